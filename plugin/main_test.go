package plugin_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/embedded"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// TestMain makes the test binary its own plugin, and a host of one: started as
// such it runs no test.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "plugin" {
		if f, ok := kinds[os.Args[2]]; ok {
			f()
			return
		}
		fmt.Fprintln(os.Stderr, "no such kind of plugin:", os.Args[2])
		os.Exit(2)
	}
	if len(os.Args) > 2 && os.Args[1] == "host" {
		beHost()
		return
	}
	// Under the race detector a process rests for a second before it exits.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// kinds are the plugins that the tests start, by their second argument.
var kinds = map[string]func(){
	"memory":   func() { serve(openMemory) },
	"embedded": func() { serve(openEmbedded) },
	"puppet":   func() { serve(openPuppet) },
	"shelf":    func() { serve(openShelf) },
	"stuck": func() {
		serve(func(ctx context.Context, settings []byte) (provider.Provider, error) {
			p, err := openPuppet(ctx, settings)
			return stuck{p}, err
		})
	},
	"embedded puppet": func() {
		serve(func(ctx context.Context, settings []byte) (provider.Provider, error) {
			store, err := openEmbedded(ctx, settings)
			return &puppet{Provider: store}, err
		})
	},
	"exits": func() {
		fmt.Fprintln(os.Stderr, "cannot find my configuration")
		os.Exit(3)
	},
	"panics": func() { panic("no way to start") },
	"hangs": func() {
		fmt.Fprintln(os.Stderr, "thinking")
		time.Sleep(time.Hour)
	},
	"chatters": func() {
		fmt.Println("hello")
		fmt.Println("1|2")
		fmt.Println(strings.Repeat("-", 200<<10))
		serve(openPuppet)
	},
	"speaks version 9":   func() { fmt.Println("1|9|unix|/nowhere|grpc|"); time.Sleep(time.Hour) },
	"gives certificate":  func() { fmt.Println("1|1|unix|/nowhere|grpc|" + certificate()); time.Sleep(time.Hour) },
	"speaks net/rpc":     func() { fmt.Println("1|1|unix|/nowhere|netrpc|"); time.Sleep(time.Hour) },
	"listens to nothing": func() { fmt.Println("1|1|unix|/nowhere|grpc|"); time.Sleep(time.Hour) },
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

func openEmbedded(ctx context.Context, settings []byte) (provider.Provider, error) {
	var s struct{ Data string }
	if err := json.Unmarshal(settings, &s); err != nil {
		return nil, provider.Invalidf("settings", "are not an object")
	}
	return embedded.Open(ctx, embedded.Options{Dir: s.Data})
}

// certificate is one as go-plugin's handshake carries it.
func certificate() string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return base64.RawStdEncoding.EncodeToString(der)
}

// beHost opens a plugin of the kind that its argument names, prints the number
// of its process, then what it is given on standard input, and stays.
func beHost() {
	p, err := plugin.Open(context.Background(), kind(os.Args[2]))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	info, err := p.Info(context.Background())
	fmt.Println(info.Documents, err)
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	fmt.Printf("%q %v\n", line, err)
	time.Sleep(time.Hour)
}

// open starts a plugin and closes it at the end of the test, which fails when
// anything is left of it then.
func open(t testing.TB, spec plugin.Spec) *plugin.Plugin {
	t.Helper()
	p, err := plugin.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return p
}

// kind is the Spec of a plugin of some kind.
func kind(name string) plugin.Spec {
	return plugin.Spec{Args: []string{"plugin", name}, Env: []string{"GORACE", "GOCOVERDIR"}}
}

// with is kind with settings.
func with(name string, settings any) plugin.Spec {
	spec := kind(name)
	var err error
	if spec.Settings, err = json.Marshal(settings); err != nil {
		panic(err)
	}
	return spec
}

// tell has a puppet do something and returns what it says.
func tell(ctx context.Context, p provider.Provider, command string) (string, error) {
	res, err := p.Search(ctx, provider.Query{Text: command, Scope: provider.AllSites()})
	if err != nil {
		return "", err
	}
	if len(res.Hits) != 1 || res.Hits[0].URL != puppetURL {
		return "", fmt.Errorf("%d hits, want the puppet's one", len(res.Hits))
	}
	return res.Hits[0].Name, nil
}

func mustTell(t *testing.T, p provider.Provider, command string) string {
	t.Helper()
	said, err := tell(t.Context(), p, command)
	if err != nil {
		t.Fatalf("%.60s: %v", command, err)
	}
	return said
}
