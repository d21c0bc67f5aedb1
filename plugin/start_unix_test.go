//go:build unix

package plugin_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	}{
		{"no such file", plugin.Spec{Path: "/no/such/plugin"}, provider.ErrInvalid, os.ErrNotExist, "/no/such/plugin"},
		{"no such name in PATH", plugin.Spec{Path: "no-such-plugin"}, provider.ErrInvalid, exec.ErrNotFound, "no-such-plugin"},
		{"no executable", plugin.Spec{Path: "faults_unix_test.go"}, provider.ErrInvalid, nil, "faults_unix_test.go"},
		{"a wrong checksum", plugin.Spec{Args: kind("memory").Args, SHA256: strings.Repeat("0", 64)}, provider.ErrInvalid, plugin.ErrChecksum, strings.Repeat("0", 64)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nothingLeft(t)
			err := startError(t, tt.spec, tt.words)
			wantErrors(t, err, tt.kind)
			if tt.cause != nil {
				wantErrors(t, err, tt.cause)
			}
		})
	}
}

func TestOpenRefusesASpecThatCannotBe(t *testing.T) {
	for arg, spec := range map[string]plugin.Spec{
		"Spec.Env[1]":              {Env: []string{"A", "PLUGIN_CLIENT_CERT"}},
		"Spec.Env[0]":              {Env: []string{"A=B"}},
		"Spec.SHA256":              {SHA256: "abc"},
		"Spec.Settings":            {Settings: []byte(`{"api_key": "k3y`)},
		"Spec.Limits.StartTimeout": {Limits: plugin.Limits{StartTimeout: -1}},
		"Spec.Limits.MaxCalls":     {Limits: plugin.Limits{MaxCalls: -1}},
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

func sumOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

func TestTheRightChecksumIsAccepted(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	spec := kind("puppet")
	spec.Path, spec.SHA256 = self, strings.ToUpper(sumOf(t, self))
	p := open(t, spec)
	kill(t, pidOf(t, p))
	mustTell(t, p, "pid") // the second start checks it again

	// A script is started by its path, because its interpreter opens that.
	script := filepath.Join(t.TempDir(), "plugin")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec '"+self+"' plugin puppet\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	spec.Path, spec.SHA256 = script, sumOf(t, script)
	mustTell(t, open(t, spec), "pid")
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
