package plugin_test

import (
	"os"
	"testing"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// The wire is transparent: behind it a provider passes the suite that it
// passes directly, by the same names.

func TestConformanceOfMemory(t *testing.T) {
	t.Parallel()
	providertest.Run(providertest.Wrap(t), func(t providertest.T) provider.Provider {
		return opened(t, kind("memory"))
	}, providertest.Opt{})
}

func TestConformanceOfEmbedded(t *testing.T) {
	if testing.Short() {
		t.Skip("SQLite is slow under the race detector; runs without -short")
	}
	t.Parallel()
	providertest.Run(providertest.Wrap(t), func(pt providertest.T) provider.Provider {
		return opened(pt, with("embedded", map[string]string{"data": memoryDir(t)}))
	}, providertest.Opt{})
}

// memoryDir is a directory in memory where the system has one: the suite asks
// for the rules and not for the disk.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "siteprovider")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func opened(t providertest.T, spec plugin.Spec) provider.Provider {
	t.Helper()
	p, err := plugin.Open(t.Context(), spec)
	if err != nil {
		t.Fatalf("open the plugin: %v", err)
	}
	return p
}
