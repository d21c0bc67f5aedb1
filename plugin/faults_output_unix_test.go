//go:build unix

package plugin_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/siteprovider/siteprovider/plugin"
)

// logged opens a plugin whose log is kept.
func logged(t *testing.T, spec plugin.Spec) (*plugin.Plugin, *lockedBuffer) {
	t.Helper()
	log := new(lockedBuffer)
	spec.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return open(t, spec), log
}

// writes is a plugin that writes something while it answers. It reaches the
// host as log lines, if at all, and neither blocks the plugin nor ends a call.
func writes(command, want string) func(*testing.T) {
	return func(t *testing.T) {
		p, log := logged(t, kind("puppet"))
		pid := mustTell(t, p, "pid")
		mustTell(t, p, command)
		mustTell(t, p, command)
		if again := mustTell(t, p, "pid"); again != pid {
			t.Errorf("process %s became %s", pid, again)
		}
		if want != "" {
			eventually(t, "the log holds "+want, func() bool { return strings.Contains(log.String(), want) })
		}
	}
}

func printsBeforeTheHandshake(t *testing.T) {
	p, log := logged(t, kind("chatters"))
	mustTell(t, p, "pid")
	for _, want := range []string{`"level":"INFO","msg":"hello"`, `"msg":"1|2"`, `"cut":true`} {
		eventually(t, "the log holds "+want, func() bool { return strings.Contains(log.String(), want) })
	}
}

// Lines of a plugin keep the level that they say.
func TestLogLinesArriveAtTheirLevel(t *testing.T) {
	p, log := logged(t, kind("puppet"))
	for command, want := range map[string]string{
		`stderr {"@message":"of a level","@level":"error","n":1}`: `"level":"ERROR","msg":"of a level","n":"1"`,
		"stderr [WARN] in brackets":                               `"level":"WARN","msg":"[WARN] in brackets"`,
		"log in a handler":                                        `"level":"WARN","msg":"in a handler","site":"a.example"`,
	} {
		mustTell(t, p, command)
		eventually(t, "the log holds "+want, func() bool { return strings.Contains(log.String(), want) })
	}
}

// lockedBuffer is a buffer for logs of several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
