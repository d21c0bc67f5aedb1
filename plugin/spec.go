package plugin

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// Spec says which plugin to run and how. The zero Spec runs the running
// binary with the argument "plugin".
type Spec struct {
	Path string   // of the executable; empty: the running binary
	Args []string // nil: "plugin"
	// Env names the variables of the host's environment that the plugin
	// gets beside the few that every process needs. PLUGIN_* are never
	// passed on.
	Env    []string
	SHA256 string // hexadecimal checksum that the executable must have; empty: any
	// Settings is the JSON document that the provider is opened with. It
	// may hold keys, and is sent through Configure each time the plugin is
	// started, never in an argument or a variable.
	Settings []byte
	// Log receives the plugin's log lines and those about the plugin; nil
	// discards them.
	Log *slog.Logger
	// StartTimeout is how long a start may take, Configure included; 0
	// means DefaultStartTimeout.
	StartTimeout time.Duration
}

// DefaultStartTimeout is the Spec.StartTimeout of a Spec without one.
const DefaultStartTimeout = 10 * time.Second

// Plugin is a provider that runs in a process of its own.
type Plugin struct{}

// Open starts the plugin and configures it.
func Open(ctx context.Context, spec Spec) (*Plugin, error) { return nil, errors.ErrUnsupported }

// Search implements provider.Provider.
func (p *Plugin) Search(ctx context.Context, q provider.Query) (*provider.Result, error) {
	return nil, errors.ErrUnsupported
}

// Get implements provider.Provider.
func (p *Plugin) Get(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
	return nil, errors.ErrUnsupported
}

// List implements provider.Provider.
func (p *Plugin) List(ctx context.Context, q provider.ListQuery) ([]provider.Entry, error) {
	return nil, errors.ErrUnsupported
}

// Sites implements provider.Provider.
func (p *Plugin) Sites(ctx context.Context) ([]provider.Site, error) {
	return nil, errors.ErrUnsupported
}

// Put implements provider.Provider.
func (p *Plugin) Put(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
	return nil, errors.ErrUnsupported
}

// Delete implements provider.Provider.
func (p *Plugin) Delete(ctx context.Context, sel provider.Selector) (int, error) {
	return 0, errors.ErrUnsupported
}

// Info implements provider.Provider.
func (p *Plugin) Info(ctx context.Context) (provider.Info, error) {
	return provider.Info{}, errors.ErrUnsupported
}

// Close ends the plugin.
func (p *Plugin) Close() error { return nil }

var _ provider.Provider = (*Plugin)(nil)
