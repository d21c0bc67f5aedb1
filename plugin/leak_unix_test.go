//go:build unix

package plugin_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is for what happens at once on an idle machine.
const patience = 20 * time.Second

// eventually waits until cond holds, and reports whether it came to.
func eventually(t testing.TB, what string, cond func() bool) bool {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("not so after %v: %s", patience, what)
			return false
		}
	}
	return true
}

// alive reports whether there is a process that is not merely waiting to be
// reaped.
func alive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && state(pid) != "Z"
}

// state is the letter of the state of a process; "" where /proc is not Linux's.
func state(pid int) string {
	stat, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	after := string(stat)[strings.LastIndexByte(string(stat), ')')+1:]
	return strings.Fields(after)[0]
}

// nothingLeft fails the test if, after everything it opened was closed, there
// are more goroutines or socket directories than before. Call it first.
func nothingLeft(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sp")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		if !eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= before }) {
			buf := make([]byte, 1<<20)
			t.Logf("goroutines:\n%s", buf[:runtime.Stack(buf, true)])
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
		os.RemoveAll(dir)
	})
}
