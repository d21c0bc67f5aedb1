package plugin_test

import (
	"testing"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// The wire is transparent: behind it a provider passes the suite that it
// passes directly, by the same names.

func TestConformanceOfMemory(t *testing.T) {
	providertest.Run(providertest.Wrap(t), func(t providertest.T) provider.Provider {
		return opened(t, kind("memory"))
	}, providertest.Opt{})
}

func TestConformanceOfEmbedded(t *testing.T) {
	providertest.Run(providertest.Wrap(t), func(pt providertest.T) provider.Provider {
		return opened(pt, with("embedded", map[string]string{"data": t.TempDir()}))
	}, providertest.Opt{})
}

func opened(t providertest.T, spec plugin.Spec) provider.Provider {
	t.Helper()
	p, err := plugin.Open(t.Context(), spec)
	if err != nil {
		t.Fatalf("open the plugin: %v", err)
	}
	return p
}
