package providertest

import (
	"context"
	"testing"
)

// T is what the suite needs of a test. *testing.T serves through Wrap; another
// implementation can record what the suite finds wrong with a provider.
type T interface {
	Helper()
	Name() string
	Context() context.Context
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	// Fatalf reports a failure and ends the calling goroutine.
	Fatalf(format string, args ...any)
	// Skipf ends the calling goroutine and says why the test did not run.
	Skipf(format string, args ...any)
	// Run runs f as a subtest and reports whether it passed.
	Run(name string, f func(T)) bool
}

// Wrap makes a T of a *testing.T.
func Wrap(t *testing.T) T { return wrapped{t} }

type wrapped struct{ *testing.T }

func (w wrapped) Run(name string, f func(T)) bool {
	return w.T.Run(name, func(t *testing.T) { f(wrapped{t}) })
}
