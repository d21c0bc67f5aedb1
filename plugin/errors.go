package plugin

import (
	"errors"
	"fmt"
	"strings"
)

// Causes of a StartError that an operator tells apart. Any other cause is an
// error of the operating system.
var (
	ErrVersion   = errors.New("it speaks another protocol version")
	ErrHandshake = errors.New("it ended before the handshake")
	ErrChecksum  = errors.New("its checksum is not the one required")
	ErrReplaced  = errors.New("its file changed while it was being started")
	ErrCrashLoop = errors.New("it keeps ending without having answered a call")
)

// StartError says why a plugin could not be started or kept running. It
// matches Kind, which is a sentinel of package provider, and Cause.
type StartError struct {
	Path  string // of the executable
	Kind  error  // provider.ErrInvalid where the Spec is at fault, else ErrUnavailable or ErrUnsupported
	Cause error  // such as ErrCrashLoop or fs.ErrNotExist; may be nil
	// Reason says in words what happened, such as "it exited with status 1
	// before it was ready".
	Reason string
	// LastWords are the last lines that the plugin wrote, oldest first, at
	// most 50.
	LastWords []string
}

// Error returns what happened and the most telling of the last words.
func (e *StartError) Error() string {
	msg := fmt.Sprintf("%v: plugin %s: %s", e.Kind, e.Path, e.Reason)
	if words := telling(e.LastWords); words != "" {
		msg += "; its last words: " + words
	}
	return msg
}

// Unwrap returns Kind and Cause.
func (e *StartError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// telling picks what explains the end of a process from its last lines: the
// head of a Go panic, which stands far above the end, or the last few.
func telling(lines []string) string {
	const few = 3
	for i, line := range lines {
		if startsPanic(line) {
			return strings.Join(lines[i:min(i+few, len(lines))], "\n")
		}
	}
	return strings.Join(lines[max(0, len(lines)-few):], "\n")
}

func startsPanic(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
}
