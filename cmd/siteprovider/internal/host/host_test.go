package host

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/cmd/siteprovider/internal/config"
	"github.com/siteprovider/siteprovider/provider"
)

func TestBackendOpensTheEmbeddedStore(t *testing.T) {
	for _, backend := range []string{"", config.Embedded} {
		dir := filepath.Join(t.TempDir(), "store")
		entry := config.Entry{Backend: config.Embedded, Data: dir}
		require.True(t, Missing(entry))

		settings, err := json.Marshal(map[string]any{"backend": backend, "data": dir, "cache_bytes": 1 << 20})
		require.NoError(t, err)
		p, err := Backend("1.2.3")(t.Context(), settings)
		require.NoError(t, err)
		info, err := p.Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, "embedded", info.Backend)
		require.Equal(t, "1.2.3", info.Version)
		require.NoError(t, p.Close())
		require.False(t, Missing(entry))
	}
}

func TestOnlyTheEmbeddedStoreCanBeMissing(t *testing.T) {
	require.False(t, Missing(config.Entry{Backend: "theirs"}))
}

func TestSettingsThatAreWrongAreNamed(t *testing.T) {
	const secret = "sk-very-secret-0451"
	for settings, want := range map[string]string{
		``:                                "settings",
		`[]`:                              "settings",
		`{"backend":1}`:                   "settings",
		`{"backend":"nope"}`:              `unknown backend "nope"`,
		`{}`:                              "settings.data: is missing",
		`{"data":"relative"}`:             `settings.data: "relative" is not absolute`,
		`{"data":["` + secret + `"]}`:     "settings.data: has the kind array, want string",
		`{"data":"/x","cache_bytes":-1}`:  "settings.cache_bytes: is -1, want at most 1099511627776",
		`{"data":"/x","cache_bytes":"1"}`: "settings.cache_bytes: has the kind string, want int64",
		`{"data":"/x","colour":"` + secret + `"}`: `unknown field "colour"`,
		`{"data":"/x"} {}`:                        "settings",
	} {
		_, err := Backend("")(t.Context(), []byte(settings))
		require.ErrorIs(t, err, provider.ErrInvalid, settings)
		require.ErrorContains(t, err, want, settings)
		require.NotContains(t, err.Error(), secret, settings)
	}
}

func TestAPluginThatIsNoFileIsWrongUsage(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing")} {
		_, err := Open(t.Context(), config.Entry{Plugin: path}, nil)
		require.ErrorIs(t, err, provider.ErrInvalid)
		require.ErrorContains(t, err, path)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestTheMemoryLimitFollowsTheCache(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	limit := func(cacheBytes int) int64 {
		settings, err := json.Marshal(map[string]any{"data": filepath.Join(t.TempDir(), "store"), "cache_bytes": cacheBytes})
		require.NoError(t, err)
		p, err := Backend("")(t.Context(), settings)
		require.NoError(t, err)
		require.NoError(t, p.Close())
		return debug.SetMemoryLimit(-1)
	}
	t.Setenv("GOMEMLIMIT", "")
	small, large := limit(1<<20), limit(1<<30)
	require.EqualValues(t, 1<<30-1<<20, large-small)

	t.Setenv("GOMEMLIMIT", "1GiB")
	debug.SetMemoryLimit(1 << 30)
	require.EqualValues(t, 1<<30, limit(1<<20))
}
