package plugin

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The generated code is what "go generate" makes of the .proto, byte for byte.
func TestGeneratedCodeIsUpToDate(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the generators; runs without -short")
	}
	const committed = "internal/siteproviderv1"
	fresh := t.TempDir()
	if out, err := exec.Command("go", "run", "./internal/protogen", "-out", fresh).CombinedOutput(); err != nil {
		t.Fatalf("protogen: %v\n%s", err, out)
	}
	names := func(dir string) []string {
		paths, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range paths {
			paths[i] = filepath.Base(paths[i])
		}
		return paths
	}
	want, got := names(fresh), names(committed)
	if len(want) == 0 || len(got) != len(want) {
		t.Fatalf("%s holds %q, go generate makes %q", committed, got, want)
	}
	for _, name := range want {
		generated, err := os.ReadFile(filepath.Join(fresh, name))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join(committed, name))
		if err != nil || !bytes.Equal(kept, generated) {
			t.Errorf("%s/%s is not what go generate ./plugin makes (%v)", committed, name, err)
		}
	}
}
