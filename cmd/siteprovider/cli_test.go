package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain makes the test binary the program under test: with a first argument
// that is no test flag it is siteprovider. It is its own plugin, too, since
// that is started as the running binary with the argument "plugin".
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		os.Exit(runMain())
	}
	os.Exit(m.Run())
}

// outcome is what a run of the program left behind.
type outcome struct {
	status         int
	stdout, stderr string
}

// program returns a run of the program in dir that has not begun yet.
func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir = dir
	return cmd
}

// siteprovider runs the program in dir, in a process of its own.
func siteprovider(t *testing.T, dir, stdin string, args ...string) outcome {
	t.Helper()
	cmd := program(t, dir, args...)
	return finish(t, cmd, stdin)
}

func finish(t *testing.T, cmd *exec.Cmd, stdin string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %v: %v", cmd.Args, err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// must is siteprovider for a run that has to end well.
func must(t *testing.T, dir, stdin string, args ...string) outcome {
	t.Helper()
	o := siteprovider(t, dir, stdin, args...)
	require.Equal(t, exitDone, o.status, "%v: stdout %s stderr %s", args, o.stdout, o.stderr)
	return o
}

// shortTempDir returns a new directory with a short path: where it is the
// temporary directory of a plugin, a socket's path has to fit behind it.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sp-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
