package providertest_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/embedded"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// What the suite runs against, as the package's documentation tells.
var (
	pluginPath = flag.String("plugin", "", "run the suite against this executable: an absolute `path`, or a name in PATH")
	settings   = flag.String("settings", `{"data":"{dir}"}`, "`JSON` to configure it with; {dir} is a new, empty directory")
	wipe       = flag.Bool("wipe", false, "delete everything it holds before each rule")
	pluginEnv  []string
	known      = make(map[string]string)
)

func TestMain(m *testing.M) {
	// This executable is a plugin itself, a right one and a wrong one.
	if len(os.Args) > 2 && os.Args[1] == "plugin" {
		if err := plugin.Serve(exemplars[os.Args[2]], plugin.ServeOptions{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Func("env", "a `variable` that the plugin gets besides the usual ones", func(name string) error {
		pluginEnv = append(pluginEnv, name)
		return nil
	})
	flag.Func("known", "a `rule=reason` that it is known not to keep", func(s string) error {
		rule, why, ok := strings.Cut(s, "=")
		if !ok || strings.TrimSpace(why) == "" {
			return fmt.Errorf("want a rule and a reason, such as List/AfterTheLastPage=\"it lists nothing\"")
		}
		known[rule] = why
		return nil
	})
	flag.Parse()
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// exemplars are the plugins that this executable is, by their names.
var exemplars = map[string]plugin.OpenFunc{
	"right": func(ctx context.Context, settings []byte) (provider.Provider, error) {
		var s struct{ Data string }
		if err := json.Unmarshal(settings, &s); err != nil {
			return nil, provider.Invalidf("settings", "are not an object")
		}
		return embedded.Open(ctx, embedded.Options{Dir: s.Data})
	},
	"wrong": func(context.Context, []byte) (provider.Provider, error) {
		return &wrong{
			Provider: providertest.NewMemory(),
			query: func(q *provider.Query) {
				if s := q.Scope.Sites(); len(s) == 1 {
					q.Scope = provider.AllSites()
				}
			},
			deleted: func(n int) int { return n + 1 },
		}, nil
	},
	// It keeps what others have put before, as a server would.
	"full": func(ctx context.Context, _ []byte) (provider.Provider, error) {
		m := providertest.NewMemory()
		_, err := m.Put(ctx, []provider.Document{{URL: "https://z.example/", Site: "z.example", Schema: []byte(`{"name":"walnut"}`)}})
		return m, err
	},
}
