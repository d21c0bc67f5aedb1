package plugin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// TestMain makes the test binary its own plugin: started as one, it serves and
// runs no test.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "plugin" {
		misbehave, ok := kinds[os.Args[2]]
		if !ok {
			fmt.Fprintln(os.Stderr, "no such kind of plugin:", os.Args[2])
			os.Exit(2)
		}
		misbehave()
		return
	}
	os.Exit(m.Run())
}

// kinds are the plugins that the tests start, by their second argument.
var kinds = map[string]func(){
	"memory": func() { serve(openMemory) },
}

func serve(open plugin.OpenFunc) {
	if err := plugin.Serve(open, plugin.ServeOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func openMemory(context.Context, []byte) (provider.Provider, error) {
	return providertest.NewMemory(), nil
}

// open starts a plugin of some kind and closes it at the end of the test.
func open(t testing.TB, kind string, settings any) *plugin.Plugin {
	t.Helper()
	p, err := plugin.Open(t.Context(), spec(t, kind, settings))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func spec(t testing.TB, kind string, settings any) plugin.Spec {
	t.Helper()
	s := plugin.Spec{Args: []string{"plugin", kind}, Env: []string{"GOCOVERDIR"}}
	if settings != nil {
		var err error
		if s.Settings, err = json.Marshal(settings); err != nil {
			t.Fatal(err)
		}
	}
	return s
}
