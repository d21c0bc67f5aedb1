package plugin

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/siteprovider/siteprovider/provider"
)

// Spec says which plugin to run and how. The zero Spec runs the running
// binary with the argument "plugin".
type Spec struct {
	// Path is the executable: a path, or a name to be found in PATH. Empty
	// means the running binary.
	Path string
	Args []string // nil: "plugin"

	// Env names variables of the host's environment that the plugin gets
	// beside those that every process needs, such as PATH, HOME, TMPDIR,
	// the language and the proxies. It gets no others.
	Env []string

	// SHA256 is the checksum that the executable must have each time it is
	// started, in hexadecimal; empty: any.
	SHA256 string

	// Settings is the JSON document that the provider is opened with; empty
	// means {}. It may hold keys: it is sent through Configure each time
	// the plugin is started, and never appears in an argument, a variable,
	// a log line or an error.
	Settings []byte

	// Log receives the plugin's own log lines and what there is to say
	// about its starts and ends; nil discards them.
	Log *slog.Logger

	// Notify is told of every change in the plugin's state; nil: nobody is.
	// It is called for one event at a time, in their order, and keeps no call
	// waiting however long it takes; it must not call Close.
	Notify func(Event)

	// Limits bound what the host waits for; the zero value works.
	Limits Limits

	name string // what errors, logs and process lists call the executable
}

// complete returns s with everything filled in and checked that does not need
// the plugin.
func (s Spec) complete() (Spec, error) {
	if err := s.findPath(); err != nil {
		return Spec{}, err
	}
	if s.Args == nil {
		s.Args = []string{"plugin"}
	}
	if err := checkEnvNames(s.Env); err != nil {
		return Spec{}, err
	}
	if sum, err := hex.DecodeString(s.SHA256); err != nil || len(sum) != 0 && len(sum) != 32 {
		return Spec{}, provider.Invalidf("Spec.SHA256", "%q is not 64 hexadecimal digits", s.SHA256)
	}
	if len(s.Settings) == 0 {
		s.Settings = []byte("{}")
	}
	if !json.Valid(s.Settings) {
		return Spec{}, provider.Invalidf("Spec.Settings", "is not JSON")
	}
	if len(s.Settings) > provider.MaxReplyBytes {
		return Spec{}, provider.Invalidf("Spec.Settings", "%d bytes are more than %d", len(s.Settings), provider.MaxReplyBytes)
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if s.Limits, err = s.Limits.complete(); err != nil {
		return Spec{}, err
	}
	return s, nil
}

// plainReason drops the path, which a StartError names anyway.
func plainReason(err error) string {
	var notFound *exec.Error
	if errors.As(err, &notFound) {
		err = notFound.Err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return err.Error()
}

// findPath makes the path absolute, so that a restart finds the same file
// wherever the host is by then.
func (s *Spec) findPath() error {
	if s.Path == "" {
		self, err := os.Executable()
		if err != nil {
			return provider.Errorf(provider.ErrUnavailable, "find the running binary: %v", err)
		}
		s.Path, s.name = self, self
		if runtime.GOOS == "linux" {
			// What this process was started from, even if the file has
			// been replaced or removed since, as "go run" and package
			// managers do.
			s.Path = "/proc/self/exe"
		}
		return nil
	}
	found, err := exec.LookPath(s.Path)
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil {
		return &StartError{Path: s.Path, Kind: provider.ErrInvalid, Cause: err, Reason: plainReason(err)}
	}
	s.Path, s.name = found, found
	return nil
}
