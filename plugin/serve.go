package plugin

import (
	"context"
	"errors"
	"log/slog"

	"github.com/siteprovider/siteprovider/provider"
)

// OpenFunc opens the provider that a plugin serves. Settings is the JSON
// document of the host's Spec.
type OpenFunc func(ctx context.Context, settings []byte) (provider.Provider, error)

// ServeOptions are the options of Serve; the zero value works.
type ServeOptions struct {
	// Log is where the plugin logs to; nil: NewLogger.
	Log *slog.Logger
}

// Serve serves a provider to the host that started this process and returns
// when the host is done with it.
func Serve(open OpenFunc, opt ServeOptions) error { return errors.ErrUnsupported }
