//go:build unix

package plugin_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
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
	state, _ := stat(pid)
	return state
}

// stat is the state of a process and the number of its parent.
func stat(pid int) (state string, parent int) {
	line, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	if err != nil {
		return "", 0
	}
	fields := strings.Fields(string(line)[strings.LastIndexByte(string(line), ')')+1:])
	parent, _ = strconv.Atoi(fields[1])
	return fields[0], parent
}

func itoa(n int) string { return strconv.Itoa(n) }

// nothingLeft gives the test a directory of its own for temporary files, and
// fails it if at its end anything is left of what it started: a process,
// anything in that directory, a goroutine or a file descriptor. Call it first.
func nothingLeft(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sp")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	// The runtime keeps two descriptors once it has waited for a pipe.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	w.Close()
	children, files, goroutines := processesOf(""), descriptors(), runtime.NumGoroutine()
	t.Cleanup(func() {
		defer os.RemoveAll(dir)
		if !eventually(t, "no process is left", func() bool {
			return len(processesOf(dir)) == 0 && len(processesOf("")) <= len(children)
		}) {
			t.Logf("processes of the test: %v; children: %v, before: %v", processesOf(dir), processesOf(""), children)
		}
		var left []string
		if !eventually(t, "nothing is left in TMPDIR", func() bool {
			left, _ = filepath.Glob(filepath.Join(dir, "*"))
			return len(left) == 0
		}) {
			t.Logf("left behind: %q", left)
		}
		if !eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= goroutines }) {
			buf := make([]byte, 1<<20)
			t.Logf("goroutines:\n%s", buf[:runtime.Stack(buf, true)])
		}
		if !eventually(t, "as few file descriptors as before", func() bool { return len(descriptors()) <= len(files) }) {
			t.Logf("before: %q\nnow: %q", files, descriptors())
		}
	})
}

// processesOf returns the processes that were started with dir as TMPDIR, or
// for "" the children of this process, those that wait to be reaped included.
// It finds none where /proc is not Linux's.
func processesOf(dir string) []int {
	var found []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if dir == "" {
			if _, parent := stat(pid); parent == os.Getpid() {
				found = append(found, pid)
			}
			continue
		}
		environ, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		if slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(v []byte) bool { return string(v) == "TMPDIR="+dir }) {
			found = append(found, pid)
		}
	}
	return found
}

// descriptors returns what the open file descriptors of this process are, as
// far as the system tells.
func descriptors() []string {
	var open []string
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		target, _ := os.Readlink("/proc/self/fd/" + e.Name())
		open = append(open, e.Name()+" "+target)
	}
	return open
}
