package plugin

import (
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"

	"github.com/siteprovider/siteprovider/provider"
)

// passedOn are the variables of the host that every plugin gets: where it
// finds programs, files and certificates, its language, and the way out.
var passedOn = []string{
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP", "TZ",
	"LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SYSTEMROOT", "SYSTEMDRIVE", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT", "COMSPEC",
}

// reserved is the prefix of the variables with which go-plugin speaks to its
// plugins. A host that is itself a plugin has some, and they are not for ours.
const reserved = "PLUGIN_"

func checkEnvNames(names []string) error {
	for i, name := range names {
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			return provider.Invalidf(fmt.Sprintf("Spec.Env[%d]", i), "%q is no name of a variable", name)
		case strings.HasPrefix(strings.ToUpper(name), reserved):
			return provider.Invalidf(fmt.Sprintf("Spec.Env[%d]", i), "%q: variables that start with %s are never passed on", name, reserved)
		}
	}
	return nil
}

// childEnv picks from environ what the plugin gets, and adds the lease and the
// log level.
func childEnv(environ, names []string, level slog.Level) []string {
	var env []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.ContainsFunc(passedOn, sameName(name)) || slices.ContainsFunc(names, sameName(name)) {
			env = append(env, entry)
		}
	}
	return append(env, LeaseEnv+"=stdin", LogLevelEnv+"="+level.String())
}

// sameName compares names of variables as the system does.
func sameName(a string) func(string) bool {
	return func(b string) bool {
		return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
	}
}

// lowestLevel is the lowest of the usual levels that log is enabled for.
func lowestLevel(enabled func(slog.Level) bool) slog.Level {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		if enabled(level) {
			return level
		}
	}
	return slog.LevelError
}
