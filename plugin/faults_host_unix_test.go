//go:build unix

package plugin_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/plugin"
)

// hostProcess is a host of its own, with one plugin.
type hostProcess struct {
	*exec.Cmd
	stdin  io.Writer
	lines  *bufio.Scanner
	plugin int // the number of its plugin's process
}

func startHost(t *testing.T, kind string) hostProcess {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := hostProcess{Cmd: exec.Command(self, "host", kind)}
	if h.stdin, err = h.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := h.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.lines = bufio.NewScanner(stdout)
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.Process.Kill()
		h.Wait()
	})
	if !h.lines.Scan() || !strings.HasSuffix(h.lines.Text(), " <nil>") {
		t.Fatalf("the host said %q", h.lines.Text())
	}
	h.plugin, _ = strconv.Atoi(strings.TrimSuffix(h.lines.Text(), " <nil>"))
	if !alive(h.plugin) {
		t.Fatalf("there is no plugin %d", h.plugin)
	}
	return h
}

// theHostsStandardInput is for the host alone, whatever its plugin reads.
func theHostsStandardInput(t *testing.T) {
	h := startHost(t, "puppet")
	io.WriteString(h.stdin, "for the host\n")
	if !h.lines.Scan() || h.lines.Text() != `"for the host\n" <nil>` {
		t.Errorf("the host read %s, want its own line", h.lines.Text())
	}
}

// theHostIsKilled kills a host after something was done to its plugin, perhaps
// both of them. What
// neither of them could remove, the next host does: the matrix opens one.
func theHostIsKilled(kind string, before func(t *testing.T, pid int), both bool) func(*testing.T) {
	return func(t *testing.T) {
		h := startHost(t, kind)
		if before != nil {
			before(t, h.plugin)
		}
		start := time.Now()
		h.Process.Kill()
		h.Wait()
		if eventually(t, "the plugin of the dead host is gone", func() bool { return !alive(h.plugin) }) {
			t.Logf("the plugin ended %v after its host", time.Since(start).Round(time.Millisecond))
		}
		sockets, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
		if len(sockets) > 0 && !both {
			t.Errorf("left behind by the plugin: %q", sockets)
		}
	}
}

func halt(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the process stands still", func() bool { return state(pid) == "T" || state(pid) == "" })
}

func killNow(t *testing.T, pid int) { kill(t, pid) }

// A host other than ours may give the lease alone: no kernel ends the plugin.
func TestThePluginEndsWithItsLease(t *testing.T) {
	nothingLeft(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sockets, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "plugin", "memory")
	cmd.Env = []string{
		plugin.CookieKey + "=" + plugin.CookieValue, plugin.LeaseEnv + "=stdin", "TMPDIR=" + os.Getenv("TMPDIR"),
		"PLUGIN_PROTOCOL_VERSIONS=1", "PLUGIN_UNIX_SOCKET_DIR=" + sockets, "GORACE=" + os.Getenv("GORACE"),
	}
	lease, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	line, err := out.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "1|1|unix|") {
		t.Errorf("the handshake is %q (%v)", line, err)
	}
	lease.Close()
	if rest, _ := io.ReadAll(out); len(rest) > 0 {
		t.Errorf("the plugin printed %q besides its handshake", rest)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the plugin ended with %v, want an orderly end", err)
	}
	if _, err := os.Stat(sockets); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of the socket is left behind: %v", err)
	}
}

func TestServeWithoutAHostSaysSo(t *testing.T) {
	if err := plugin.Serve(openMemory, plugin.ServeOptions{}); !errors.Is(err, plugin.ErrNoHost) {
		t.Errorf("Serve: %v, want ErrNoHost", err)
	}
}
