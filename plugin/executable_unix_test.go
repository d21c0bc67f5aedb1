//go:build unix

package plugin

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// program copies one of the system's to path and returns its checksum.
func program(t *testing.T, name, path string) (sum string) {
	t.Helper()
	found, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(found)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o700); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// What is at the path by the time of the start is not what was checked.
func TestWhatWasCheckedIsWhatRuns(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "plugin"), filepath.Join(dir, "other")
	spec := Spec{Path: path, SHA256: program(t, "true", path), name: path}
	program(t, "false", other)
	e, err := openExecutable(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	if err := e.confirm(); err != nil {
		t.Errorf("nothing has changed: %v", err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	ran := e.command().Run()
	confirmed := e.confirm()
	if runtime.GOOS == "linux" && (ran != nil || confirmed != nil) {
		t.Errorf("ran: %v, confirmed: %v; want the program that was checked to have run", ran, confirmed)
	}
	if ran != nil && !errors.Is(confirmed, ErrReplaced) {
		t.Errorf("another program ran (%v), and was confirmed: %v", ran, confirmed)
	}
	if !e.replaced() {
		t.Error("the replaced file is not noticed")
	}
}

func TestAFileThatChangesDuringAStartIsNotTrusted(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"written to": func(path string) error { return os.WriteFile(path, []byte("something else"), 0o700) },
		"replaced":   func(path string) error { return os.Rename(path+"-new", path) },
		"removed":    os.Remove,
	} {
		for _, checked := range []bool{false, true} {
			if checked && name != "written to" && runtime.GOOS == "linux" {
				continue // the open file itself is executed
			}
			path := filepath.Join(t.TempDir(), "plugin")
			spec := Spec{Path: path, name: path}
			if sum := program(t, "true", path); checked {
				spec.SHA256 = sum
			}
			program(t, "false", path+"-new")
			e, err := openExecutable(spec)
			if err != nil {
				t.Fatal(err)
			}
			e.command()
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			err = e.confirm()
			var start *StartError
			if !errors.As(err, &start) || !errors.Is(err, ErrReplaced) || !errors.Is(err, provider.ErrUnavailable) {
				t.Errorf("%s, checked %v: %v, want ErrReplaced", name, checked, err)
			}
			e.close()
		}
	}
}
