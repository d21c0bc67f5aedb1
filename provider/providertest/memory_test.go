package providertest_test

import (
	"testing"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

func TestConformance(t *testing.T) {
	open := func(providertest.T) provider.Provider { return providertest.NewMemory() }
	providertest.Run(providertest.Wrap(t), open, providertest.Opt{})
}
