package plugin

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/siteprovider/siteprovider/provider"
)

// BenchmarkSupervisor makes each call through a client of go-plugin's as it is,
// and through a supervised plugin, in turn, and reports the median of what the
// supervisor adds: the lookup of the process, the limits, the repeated call
// that is not needed. Both processes are of one executable, which answers at
// once; both clients convert messages alike.
func BenchmarkSupervisor(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	bare := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  handshakeConfig(),
		Plugins:          goplugin.PluginSet{pluginName: &grpcPlugin{}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		Cmd:              exec.Command(self, "plugin", "shelf"),
		GRPCDialOptions:  dialOptions(),
		Logger:           silent(),
	})
	defer bare.Kill()
	connected, err := connect(bare)
	if err != nil {
		b.Fatal(err)
	}
	direct := newClient(connected.Conn)
	if err := direct.configure(b.Context(), []byte("{}")); err != nil {
		b.Fatal(err)
	}
	supervised, err := Open(b.Context(), Spec{Args: []string{"plugin", "shelf"}})
	if err != nil {
		b.Fatal(err)
	}
	defer supervised.Close()

	q, err := provider.Query{Text: "walnut bread", Scope: provider.InSites("recipes.example")}.Check()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		bare, ours func(context.Context) error
	}{
		{"Info",
			func(ctx context.Context) error { _, err := direct.info(ctx); return err },
			func(ctx context.Context) error { _, err := supervised.Info(ctx); return err }},
		{"Search50Hits",
			func(ctx context.Context) error { _, err := direct.search(ctx, q); return err },
			func(ctx context.Context) error { _, err := supervised.Search(ctx, q); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			timed := func(call func(context.Context) error) time.Duration {
				start := time.Now()
				if err := call(b.Context()); err != nil {
					b.Fatal(err)
				}
				return time.Since(start)
			}
			var without, with, added []time.Duration
			for i := 0; b.Loop(); i++ {
				var w, o time.Duration
				if i%2 == 0 { // who goes first may find the machine asleep
					w, o = timed(c.bare), timed(c.ours)
				} else {
					o, w = timed(c.ours), timed(c.bare)
				}
				without, with, added = append(without, w), append(with, o), append(added, o-w)
			}
			report := func(ds []time.Duration, unit string) {
				slices.Sort(ds)
				b.ReportMetric(float64(ds[len(ds)/2].Nanoseconds())/1e3, unit)
			}
			report(without, "bare-µs-p50")
			report(with, "supervised-µs-p50")
			report(added, "added-µs-p50")
		})
	}
}
