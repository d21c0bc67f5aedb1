// Package host opens the providers that a configuration names: on the host's
// side through a plugin process, on the plugin's side as the backend itself.
//
//	p, err := host.Open(ctx, entry, log)
//	defer p.Close()
package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/siteprovider/siteprovider/cmd/siteprovider/internal/config"
	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/embedded"
)

// Open starts the plugin of an entry and configures it. Without a plugin named
// in the entry this very program is started, as "siteprovider plugin".
func Open(ctx context.Context, e config.Entry, log *slog.Logger) (provider.Provider, error) {
	if e.Plugin != "" {
		if err := checkExecutable(e.Plugin); err != nil {
			return nil, err
		}
	}
	p, err := plugin.Open(ctx, plugin.Spec{
		Path:     e.Plugin,
		Env:      []string{"GOMEMLIMIT", "GOGC"},
		SHA256:   e.PluginSHA256,
		Settings: e.Settings.JSON(),
		Log:      log,
	})
	if errors.Is(err, plugin.ErrChecksum) {
		return nil, fmt.Errorf("%s: plugin_sha256: %w", e.SHA256At, err)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// checkExecutable turns the usual mistakes in a path into errors that blame
// the path and not the provider.
func checkExecutable(path string) error {
	info, err := os.Stat(path)
	var inPath *fs.PathError
	switch {
	case errors.As(err, &inPath):
		return provider.Invalidf("plugin "+path, "%v", inPath.Err)
	case err != nil:
		return provider.Invalidf("plugin "+path, "%v", err)
	case !info.Mode().IsRegular():
		return provider.Invalidf("plugin "+path, "is not an executable file")
	}
	return nil
}

// Missing reports whether e keeps its documents in an embedded store that does
// not exist yet, so that there is nothing to read. Reading must not create it:
// an empty store in a mistyped directory would hide the mistake. What another
// executable keeps, and where, is its own business.
func Missing(e config.Entry) bool {
	return e.Plugin == "" && e.Backend == config.Embedded && !embedded.Exists(e.Data)
}

// Backend returns what opens the backend that settings describe, inside the
// plugin process. Version is what the provider's Info reports.
func Backend(version string) plugin.OpenFunc {
	return func(ctx context.Context, settings []byte) (provider.Provider, error) {
		var s struct {
			Backend string `json:"backend"`
		}
		if err := json.Unmarshal(settings, &s); err != nil {
			return nil, provider.Invalidf("settings", "are not a JSON object with a text as its backend")
		}
		switch s.Backend {
		case "", config.Embedded:
			return openEmbedded(ctx, version, settings)
		}
		return nil, provider.Invalidf("settings.backend", "unknown backend %q", s.Backend)
	}
}

func openEmbedded(ctx context.Context, version string, settings []byte) (provider.Provider, error) {
	var s struct {
		Backend string `json:"backend"`
		Data    string `json:"data"`
		Cache   int64  `json:"cache_bytes"`
	}
	if err := strictJSON(settings, &s); err != nil {
		return nil, err
	}
	if s.Data == "" {
		return nil, provider.Invalidf("settings.data", "is missing; want the absolute path of the store's directory")
	}
	// The plugin's working directory is not its host's.
	if !filepath.IsAbs(s.Data) {
		return nil, provider.Invalidf("settings.data", "%q is not absolute", s.Data)
	}
	if s.Cache < 0 || s.Cache > config.MaxCacheBytes {
		return nil, provider.Invalidf("settings.cache_bytes", "is %d, want at most %d", s.Cache, int64(config.MaxCacheBytes))
	}
	if s.Cache == 0 {
		s.Cache = embedded.DefaultCacheBytes
	}
	limitMemory(s.Cache)
	return embedded.Open(ctx, embedded.Options{Dir: s.Data, Version: version, CacheBytes: s.Cache})
}

var limitGarbage = sync.OnceFunc(func() { embedded.LimitGarbage() })

// workBytes is the memory that searches and writes take beside the cache.
const workBytes = 256 << 20

// limitMemory has the garbage collector keep this process, which is the plugin's,
// within what the cache and the work beside it need, and usually well below. The
// limit is soft. GOMEMLIMIT and GOGC, where the host has them, win.
func limitMemory(cacheBytes int64) {
	if os.Getenv("GOGC") == "" {
		limitGarbage()
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(cacheBytes + workBytes)
	}
}
