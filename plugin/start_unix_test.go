//go:build unix

package plugin_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

func TestOpenSaysWhyAPluginDoesNotStart(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spec  plugin.Spec
		kind  error
		cause error
		words string // in the message
		last  string // in the last words
	}{
		{"it exits", kind("exits"), provider.ErrUnavailable, nil, "exit status 3", "cannot find my configuration"},
		{"it panics", kind("panics"), provider.ErrUnavailable, nil, "panic: no way to start", "panic: no way to start"},
		{"it hangs", kind("hangs"), provider.ErrUnavailable, context.DeadlineExceeded, "not ready within 500ms", "thinking"},
		{"another version", kind("speaks version 9"), provider.ErrUnsupported, plugin.ErrVersion, "version 9", ""},
		{"a certificate that nobody asked for", kind("gives certificate"), provider.ErrUnavailable, nil, "malformed handshake", ""},
		{"another protocol", kind("speaks net/rpc"), provider.ErrUnavailable, nil, "netrpc", ""},
		{"nobody behind the socket", kind("listens to nothing"), provider.ErrUnavailable, nil, "/nowhere", ""},
		{"no such file", plugin.Spec{Path: "/no/such/plugin"}, provider.ErrInvalid, os.ErrNotExist, "/no/such/plugin", ""},
		{"no such name in PATH", plugin.Spec{Path: "no-such-plugin"}, provider.ErrInvalid, exec.ErrNotFound, "no-such-plugin", ""},
		{"no executable", plugin.Spec{Path: "faults_unix_test.go"}, provider.ErrInvalid, nil, "faults_unix_test.go", ""},
		{"a wrong checksum", plugin.Spec{Args: kind("memory").Args, SHA256: strings.Repeat("0", 64)}, provider.ErrInvalid, plugin.ErrChecksum, strings.Repeat("0", 64), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nothingLeft(t)
			if tt.name == "it hangs" {
				tt.spec.StartTimeout = 500 * time.Millisecond
			}
			p, err := plugin.Open(t.Context(), tt.spec)
			if err == nil {
				p.Close()
				t.Fatal("Open succeeded")
			}
			var start *plugin.StartError
			if !errors.As(err, &start) {
				t.Fatalf("error %T %v, want a *StartError", err, err)
			}
			if !errors.Is(err, tt.kind) {
				t.Errorf("error %v, want one that matches %q", err, tt.kind)
			}
			if tt.cause != nil && !errors.Is(err, tt.cause) {
				t.Errorf("error %v, want one that matches %q", err, tt.cause)
			}
			if !strings.Contains(err.Error(), tt.words) {
				t.Errorf("error %q, want %q in it", err, tt.words)
			}
			if last := strings.Join(start.LastWords, "\n"); !strings.Contains(last, tt.last) {
				t.Errorf("last words %q, want %q in them", last, tt.last)
			}
		})
	}
}

func TestOpenRefusesASpecThatCannotBe(t *testing.T) {
	for arg, spec := range map[string]plugin.Spec{
		"Spec.Env[1]":       {Env: []string{"A", "PLUGIN_CLIENT_CERT"}},
		"Spec.Env[0]":       {Env: []string{"A=B"}},
		"Spec.SHA256":       {SHA256: "abc"},
		"Spec.Settings":     {Settings: []byte(`{"api_key": "k3y`)},
		"Spec.StartTimeout": {StartTimeout: -1},
	} {
		_, err := plugin.Open(t.Context(), spec)
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.ErrInvalid || e.Arg != arg {
			t.Errorf("Open: %v, want ErrInvalid about %s", err, arg)
		} else if strings.Contains(err.Error(), "k3y") {
			t.Errorf("the error repeats the settings: %v", err)
		}
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	nothingLeft(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := plugin.Open(ctx, kind("hangs")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Open: %v, want the context's error", err)
	}
}

func TestTheRightChecksumIsAccepted(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sha256sum", self).Output()
	if err != nil {
		t.Skip("needs the program sha256sum, of coreutils")
	}
	sum, _, _ := strings.Cut(string(out), " ")
	p := open(t, plugin.Spec{Path: self, Args: kind("puppet").Args, SHA256: strings.ToUpper(sum)})
	pid, _ := strconv.Atoi(mustTell(t, p, "pid"))
	syscall.Kill(pid, syscall.SIGKILL)
	mustTell(t, p, "pid") // the second start checks it again
}

func TestRefusedSettingsKeepTheirErrorAndTheirSecret(t *testing.T) {
	nothingLeft(t)
	const secret = "gk-4c1e77aa90"
	spec := with("puppet", map[string]string{"refuse": secret})
	var log lockedBuffer
	spec.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
	_, err := plugin.Open(t.Context(), spec)
	var e *provider.Error
	want := provider.Error{Kind: provider.ErrInvalid, Arg: "settings.refuse", Reason: "is 13 characters long"}
	if !errors.As(err, &e) || *e != want {
		t.Errorf("Open: %v, want %v", err, &want)
	}
	if strings.Contains(log.String()+err.Error(), secret) {
		t.Errorf("the secret is told: %v\n%s", err, log.String())
	}
}
