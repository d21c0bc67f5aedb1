//go:build unix

package plugin_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestThePluginGetsOnlyWhatIsItsOwn(t *testing.T) {
	nothingLeft(t)
	const secret = "gk-4c1e77aa90"
	t.Setenv("HOST_TOKEN", "of the host")
	t.Setenv("BACKEND_REGION", "north")
	t.Setenv("PLUGIN_CLIENT_CERT", "-----BEGIN CERTIFICATE-----")
	t.Setenv("PLUGIN_MULTIPLEX_GRPC", "true")
	t.Setenv("PLUGIN_UNIX_SOCKET_GROUP", "nobody")
	spec := with("puppet", map[string]string{"api_key": secret})
	spec.Env = []string{"BACKEND_REGION"}
	p := open(t, spec)

	var env []string
	if err := json.Unmarshal([]byte(mustTell(t, p, "env")), &env); err != nil {
		t.Fatal(err)
	}
	allowed := []string{
		"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
		"BACKEND_REGION", plugin.CookieKey, plugin.LeaseEnv, plugin.LogLevelEnv,
		"PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_UNIX_SOCKET_DIR",
	}
	for _, entry := range env {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(allowed, name) {
			t.Errorf("the plugin has the variable %s", name)
		}
	}
	if !slices.Contains(env, "BACKEND_REGION=north") {
		t.Error("the plugin lacks the variable that Spec.Env names")
	}
	if args := mustTell(t, p, "args"); strings.Contains(args+strings.Join(env, " "), secret) {
		t.Error("the settings are in the plugin's arguments or environment")
	}
	for _, entry := range env {
		if dir, ok := strings.CutPrefix(entry, "PLUGIN_UNIX_SOCKET_DIR="); ok {
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("socket directory %s: %v %v, want mode 0700", dir, info.Mode(), err)
			}
		}
	}
}

func TestALongSocketDirectoryIsNamed(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("d", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	_, err := plugin.Open(t.Context(), kind("memory"))
	if !errors.Is(err, provider.ErrUnavailable) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("Open: %v, want an error that tells to shorten TMPDIR", err)
	}
	if left, _ := os.ReadDir(long); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Nothing a plugin writes anywhere reaches the host but as log lines, blocks
// the plugin or ends a call.
func TestWhatAPluginWritesIsOnlyLogged(t *testing.T) {
	nothingLeft(t)
	var log lockedBuffer
	spec := kind("chatters")
	spec.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p := open(t, spec)
	pid := mustTell(t, p, "pid")
	for _, command := range []string{
		`stderr {"@message":5}`,
		`stderr {"@level":[],"@message":"odd types","@timestamp":{}}`,
		`stderr {"@message":"of a level","@level":"error","n":1}`,
		"stderr [WARN] in brackets",
		"stderr \xff\xfe not text",
		"stderrBytes 1000000",
		"print 300000",
		"stdoutBytes 300000",
		"print 300000",
	} {
		if strings.Contains(command, "\xff") { // not a valid query
			continue
		}
		mustTell(t, p, command)
	}
	if again := mustTell(t, p, "pid"); again != pid {
		t.Errorf("process %s became %s", pid, again)
	}
	for _, want := range []string{
		`"level":"INFO","msg":"hello"`,
		`"level":"INFO","msg":"5"`,
		`"msg":"odd types"`,
		`"level":"ERROR","msg":"of a level","n":"1"`,
		`"level":"WARN","msg":"[WARN] in brackets"`,
		`"cut":true`,
	} {
		eventually(t, "the log holds "+want, func() bool { return strings.Contains(log.String(), want) })
	}
}

func TestAPanicIsAnErrorAndNotTheEnd(t *testing.T) {
	nothingLeft(t)
	var log lockedBuffer
	spec := kind("puppet")
	spec.Log = slog.New(slog.NewTextHandler(&log, nil))
	p := open(t, spec)
	pid := mustTell(t, p, "pid")
	_, err := tell(t.Context(), p, "panic text-of-a-document")
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.ErrInternal {
		t.Fatalf("a panic gave %v, want ErrInternal", err)
	}
	_, id, ok := strings.Cut(e.Reason, "request ")
	if !ok {
		t.Fatalf("the error %q names no request", e.Reason)
	}
	eventually(t, "the log tells of request "+id, func() bool { return strings.Contains(log.String(), id) })
	if strings.Contains(log.String()+err.Error(), "text-of-a-document") {
		t.Error("what the panic threw is told above debug level")
	}
	if again := mustTell(t, p, "pid"); again != pid {
		t.Errorf("process %s became %s", pid, again)
	}
}

func TestALocalDeadlineReachesThePlugin(t *testing.T) {
	p := open(t, kind("puppet"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if said, err := tell(ctx, p, "deadline"); said != "true true" {
		t.Errorf("the plugin saw the deadline %q (%v)", said, err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := tell(ctx, p, "wait /no/such/file"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call past its deadline gave %v", err)
	}
}

func TestCloseIsBoundedWhateverThePluginDoes(t *testing.T) {
	for name, wedge := range map[string]func(*testing.T, *plugin.Plugin, int){
		"stopped by a signal": func(t *testing.T, _ *plugin.Plugin, pid int) { syscall.Kill(pid, syscall.SIGSTOP) },
		"dead":                func(t *testing.T, _ *plugin.Plugin, pid int) { syscall.Kill(pid, syscall.SIGKILL) },
		"in a call": func(t *testing.T, p *plugin.Plugin, pid int) {
			done := make(chan error, 1)
			go func() {
				_, err := tell(context.Background(), p, "wait /no/such/file")
				done <- err
			}()
			t.Cleanup(func() {
				if err := <-done; !errors.Is(err, provider.ErrUnavailable) && !errors.Is(err, context.Canceled) {
					t.Errorf("the call that Close ended gave %v", err)
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			nothingLeft(t)
			p := open(t, kind("puppet"))
			pid, _ := strconv.Atoi(mustTell(t, p, "pid"))
			wedge(t, p, pid)
			start := time.Now()
			p.Close()
			if took := time.Since(start); took > patience {
				t.Errorf("Close took %v", took)
			}
			eventually(t, "the process is gone", func() bool { return !alive(pid) })
			if _, err := p.Info(t.Context()); !errors.Is(err, provider.ErrUnavailable) {
				t.Errorf("a call after Close gave %v", err)
			}
		})
	}
}

func TestWhatThePluginStartedEndsWithIt(t *testing.T) {
	for name, arg := range map[string]string{"in its group": "", "in a session of its own": "apart"} {
		t.Run(name, func(t *testing.T) {
			nothingLeft(t)
			p := open(t, kind("puppet"))
			child, _ := strconv.Atoi(mustTell(t, p, "child "+arg))
			t.Cleanup(func() { syscall.Kill(child, syscall.SIGKILL) })
			pid, _ := strconv.Atoi(mustTell(t, p, "pid"))
			syscall.Kill(pid, syscall.SIGKILL)
			if again := mustTell(t, p, "pid"); again == itoa(pid) {
				t.Errorf("process %d answered after it was killed", pid)
			}
			if arg == "" {
				eventually(t, "the plugin's child is gone", func() bool { return !alive(child) })
			}
		})
	}
}

func TestAHungPluginIsReplaced(t *testing.T) {
	nothingLeft(t)
	p, err := plugin.OpenWithPulse(t.Context(), kind("puppet"), 20*time.Millisecond, 500*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	pid, _ := strconv.Atoi(mustTell(t, p, "pid"))
	syscall.Kill(pid, syscall.SIGSTOP)
	eventually(t, "the process stands still", func() bool { return state(pid) == "T" || state(pid) == "" })
	if again := mustTell(t, p, "pid"); again == itoa(pid) {
		t.Errorf("process %d answered while it was stopped", pid)
	}
	eventually(t, "the hung process is gone", func() bool { return !alive(pid) })
}

func TestAHostKeepsItsStandardInputAndTakesItsPluginWithIt(t *testing.T) {
	host := exec.Command("/proc/self/exe", "host")
	if _, err := os.Stat(host.Path); err != nil {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		host = exec.Command(self, "host")
	}
	stdin, err := host.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	defer host.Wait()
	defer host.Process.Kill()

	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || !strings.HasSuffix(lines.Text(), " <nil>") {
		t.Fatalf("the host said %q", lines.Text())
	}
	pid, _ := strconv.Atoi(strings.TrimSuffix(lines.Text(), " <nil>"))
	io.WriteString(stdin, "for the host\n")
	if !lines.Scan() || lines.Text() != `"for the host\n" <nil>` {
		t.Errorf("the host read %s, want its own line", lines.Text())
	}
	if !alive(pid) {
		t.Fatalf("there is no plugin %d", pid)
	}
	host.Process.Kill()
	eventually(t, "the plugin of the dead host is gone", func() bool { return !alive(pid) })
}

// A host other than ours may give the lease alone: no kernel ends the plugin.
func TestThePluginEndsWithItsLease(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "plugin", "memory")
	cmd.Env = []string{
		plugin.CookieKey + "=" + plugin.CookieValue, plugin.LeaseEnv + "=stdin",
		"PLUGIN_PROTOCOL_VERSIONS=1", "PLUGIN_UNIX_SOCKET_DIR=" + t.TempDir(), "GORACE=" + os.Getenv("GORACE"),
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
	if _, err := os.Stat(strings.Split(line, "|")[3]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

func TestServeWithoutAHostSaysSo(t *testing.T) {
	if err := plugin.Serve(openMemory, plugin.ServeOptions{}); !errors.Is(err, plugin.ErrNoHost) {
		t.Errorf("Serve: %v, want ErrNoHost", err)
	}
}

// lockedBuffer is a buffer for logs of several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
