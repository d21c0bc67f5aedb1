package plugin

import (
	"context"

	"github.com/siteprovider/siteprovider/provider"
)

// ReadOnly is embedded by a provider that is written by other ways than this
// contract's, and lists no documents: its methods answer with an error that
// matches provider.ErrUnsupported, and Close does nothing.
type ReadOnly struct{}

// List implements provider.Provider.
func (ReadOnly) List(context.Context, provider.ListQuery) ([]provider.Entry, error) {
	return nil, provider.Errorf(provider.ErrUnsupported, "this provider does not list its documents")
}

// Put implements provider.Provider.
func (ReadOnly) Put(context.Context, []provider.Document) ([]provider.PutResult, error) {
	return nil, provider.Errorf(provider.ErrUnsupported, "this provider cannot be written to")
}

// Delete implements provider.Provider.
func (ReadOnly) Delete(context.Context, provider.Selector) (int, error) {
	return 0, provider.Errorf(provider.ErrUnsupported, "this provider cannot be written to")
}

// Close implements provider.Provider.
func (ReadOnly) Close() error { return nil }
