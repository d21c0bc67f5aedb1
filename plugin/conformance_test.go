package plugin_test

import (
	"testing"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// The wire is transparent when a provider passes the same suite behind it.
func TestConformanceOfMemory(t *testing.T) {
	providertest.Run(providertest.Wrap(t), func(t providertest.T) provider.Provider {
		p, err := plugin.Open(t.Context(), plugin.Spec{Args: []string{"plugin", "memory"}})
		if err != nil {
			t.Fatalf("open the plugin: %v", err)
		}
		return p
	}, providertest.Opt{})
}
