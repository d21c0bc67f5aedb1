package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"

	"github.com/siteprovider/siteprovider/provider"
)

// The exit statuses of every command.
const (
	exitDone   = 0
	exitPart   = 1   // a document failed, or a URL was not found
	exitUsage  = 2   // wrong usage or configuration
	exitFault  = 3   // the backend is unavailable, the store damaged, or output went nowhere
	exitSignal = 128 // plus the signal's number, as shells have it
)

// errPart ends a command with exitPart when its output has said all there is
// to say.
var errPart = errors.New("some of it was not found or failed")

// errReaderGone ends a command whose output nobody reads any more.
var errReaderGone = errors.New("nobody reads the output any more")

// errStatus ends a command with the status of another one that it ran, and
// that has said why.
type errStatus int

func (e errStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// silent reports whether everything about err has been said, or whoever would
// read it is content with what there was.
func silent(err error) bool {
	var status errStatus
	return errors.Is(err, errPart) || errors.As(err, &status) || errors.Is(err, errReaderGone)
}

// errNothingIngested is what a reading command says where there is no store.
func errNothingIngested(dir string) error {
	return &provider.Error{
		Kind: provider.ErrInvalid,
		Reason: fmt.Sprintf("nothing ingested here: %s holds no store. "+
			"Ingest something first (siteprovider ingest FILE), or name the directory of a store with --data DIR", dir),
	}
}

// errFault marks an error that ends a command with exitFault, whatever its kind.
type errFault struct{ error }

func (e errFault) Unwrap() error { return e.error }

// atOpening classes an error of opening a provider. That something is not
// supported then concerns the store, such as one that a newer version wrote,
// and not what was asked.
func atOpening(err error) error {
	if errors.Is(err, provider.ErrUnsupported) || errors.Is(err, provider.ErrConflict) {
		return errFault{err}
	}
	return err
}

// exitStatus returns the status that an error of a command ends with.
func exitStatus(err error) int {
	var status errStatus
	var fault errFault
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, errPart):
		return exitPart
	case errors.Is(err, errReaderGone):
		return exitSignal + int(syscall.SIGPIPE)
	case errors.As(err, &fault), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return exitFault
	}
	for _, kind := range []error{
		provider.ErrInvalid, provider.ErrUnsupported, provider.ErrConflict,
		provider.ErrUnauthenticated, provider.ErrPermission,
	} {
		if errors.Is(err, kind) {
			return exitUsage
		}
	}
	return exitFault
}

// message returns what to tell a person about an error, without the names that
// things have in Go.
func message(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	return argNames.Replace(limitName.ReplaceAllString(reason(err), ""))
}

// argNames turns the arguments of calls into those of the command line.
var argNames = strings.NewReplacer(
	"Query.Text", "the query", "Query.Scope", "--site", "Query.Filter", "--filter",
	"Lookup.Scope", "--site", "Lookup.URLs", "URL", "Options.Base", "--base", "Spec.SHA256", "plugin_sha256",
	"BackupOptions.Path", "FILE",
)

// limitName is how an error of package provider names a limit before its value.
var limitName = regexp.MustCompile(`\bMax[A-Z][A-Za-z]* = `)

// reason returns an error's text. The kind of an invalid argument goes without
// saying, once the argument and the reason are named.
func reason(err error) string {
	var e *provider.Error
	if !errors.As(err, &e) || err != error(e) || !errors.Is(e.Kind, provider.ErrInvalid) {
		return err.Error()
	}
	if e.Arg == "" {
		return e.Reason
	}
	return e.Arg + ": " + e.Reason
}
