//go:build unix

package plugin_test

import (
	"testing"

	"github.com/siteprovider/siteprovider/plugin"
)

// TestFaultMatrix does to a host, with real processes, what plugins do in the
// wild. Each fault looks after the call that meets it and the one that follows.
// After each the host lives on, can use another plugin, and nothing is left of
// what was started.
func TestFaultMatrix(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(*testing.T)
	}{
		{"a log line with a number for its message", writes(`stderr {"@message":5}`, `"level":"INFO","msg":"5"`)},
		{"a log line of odd types", writes(`stderr {"@level":[],"@message":"odd types","@timestamp":{}}`, `"msg":"odd types"`)},
		{"a log line of a megabyte", writes("stderrBytes 1000000", `"cut":true`)},
		{"half a megabyte of log lines", writes("stderrLines 8000", `"msg":"line 7999`)},
		{"prints before the handshake", printsBeforeTheHandshake},
		{"prints 300 KB in a handler", writes("print 300000", "")},
		{"a child that prints 200 KB without a line end to descriptor 1", writes("stdoutBytes 200000", "")},
		{"200 KB of lines on descriptor 1", writes("stdoutLines 4000", `"msg":"line 3999`)},

		{"a certificate in the handshake that nobody asked for", startFails(kind("gives certificate"), "malformed handshake")},
		{"another protocol version", anotherVersion},
		{"another protocol", startFails(kind("speaks net/rpc"), "netrpc")},
		{"nobody behind the socket", startFails(kind("listens to nothing"), "/nowhere")},
		{"no plugin at all", noPluginAtAll},
		{"hangs at its start", hangsAtItsStart},
		{"exits at its start", startFails(kind("exits"), "exit status 3", "cannot find my configuration")},
		{"panics at its start", startFails(kind("panics"), "panic: no way to start")},
		{"a long socket directory", longSocketDirectory},
		{"the host is itself a plugin", theHostIsItselfAPlugin},
		{"a variable of the host that leaks", aVariableThatLeaks},
		{"a shell wrapper that is killed", shellWrapper(true)},
		{"a shell wrapper whose plugin is killed", shellWrapper(false)},

		{"a panic in a handler", aPanicInAHandler},
		{"a panic beside the handlers", crashes("crash away")},
		{"os.Exit in a handler", crashes("exit 7")},
		{"killed in the middle of a call", killedInACall},
		{"halted while no call is made", haltedIdle},
		{"halted in the middle of calls", haltedInCalls},
		{"halted and closed", closedWhile(halted)},
		{"killed and closed", closedWhile(killed)},
		{"closed in the middle of a call", closedWhile(inACall)},
		{"a provider that does not finish closing", closedWhile(stuckInClose)},
		{"SIGTERM in the middle of a call", terminatedInACall},
		{"a grandchild that holds standard error", grandchild("")},
		{"a grandchild in a session of its own that holds standard error", grandchild("apart")},
		{"messages of 5 MiB both ways", largeMessages},
		{"a crash loop", crashLoop},
		{"an upgrade on disk", upgraded},
		{"an upgrade on disk that the checksum does not allow", upgradedAgainstTheChecksum},

		{"a plugin that reads standard input", theHostsStandardInput},
		{"the host is killed", theHostIsKilled("puppet", nil, false)},
		{"the host of a halted plugin is killed", theHostIsKilled("puppet", halt, false)},
		{"the host of a plugin that does not finish closing is killed", theHostIsKilled("stuck", nil, false)},
		{"host and plugin are killed", theHostIsKilled("puppet", killNow, true)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nothingLeft(t)
			tt.fault(t)
			p, err := plugin.Open(t.Context(), kind("puppet"))
			if err != nil {
				t.Fatalf("the host cannot open another plugin: %v", err)
			}
			mustTell(t, p, "pid")
			if err := p.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}
