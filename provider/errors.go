package provider

import (
	"errors"
	"fmt"
)

// The kinds of failure. An error returned by a Provider matches, with
// errors.Is, exactly one of these or a context error, on either side of a
// plugin boundary.
var (
	ErrInvalid         = errors.New("invalid argument")        // the caller's fault; trying again will not help
	ErrUnauthenticated = errors.New("not authenticated")       // the backend does not know who is asking
	ErrPermission      = errors.New("permission denied")       // it knows, and refuses
	ErrConflict        = errors.New("conflict")                // the request contradicts what is stored
	ErrUnavailable     = errors.New("provider unavailable")    // for now: trying again may help
	ErrUnsupported     = errors.New("not supported")           // by this backend
	ErrCorrupt         = errors.New("stored data is damaged")  // needs an operator
	ErrInternal        = errors.New("internal provider error") // a defect, or a failure of no other kind
)

// Error is a failure with what a caller can act on. Its Kind is one of the
// sentinels above, which errors.Is finds.
type Error struct {
	Kind error
	// Arg is the argument at fault, as its caller would write it, such as
	// "Query.Scope" or "documents[3].URL". Empty where no single one is.
	Arg string
	// Reason says in words what was wrong; it keeps a server's own words.
	Reason string
}

// Error returns "kind: Arg: Reason" without the parts that are empty.
func (e *Error) Error() string {
	msg := "provider error"
	if e.Kind != nil {
		msg = e.Kind.Error()
	}
	if e.Arg != "" {
		msg += ": " + e.Arg
	}
	if e.Reason != "" {
		msg += ": " + e.Reason
	}
	return msg
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Invalidf returns an *Error of kind ErrInvalid about the argument arg.
func Invalidf(arg, format string, args ...any) error {
	return &Error{Kind: ErrInvalid, Arg: arg, Reason: fmt.Sprintf(format, args...)}
}

// Errorf returns an *Error of the given kind about no argument in particular.
func Errorf(kind error, format string, args ...any) error {
	return &Error{Kind: kind, Reason: fmt.Sprintf(format, args...)}
}
