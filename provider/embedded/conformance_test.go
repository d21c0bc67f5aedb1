package embedded_test

import (
	"testing"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/embedded"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

func TestConformance(t *testing.T) {
	providertest.Run(providertest.Wrap(t), func(tt providertest.T) provider.Provider {
		s, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir()})
		if err != nil {
			tt.Fatalf("open: %v", err)
		}
		return s
	}, providertest.Opt{})
}
