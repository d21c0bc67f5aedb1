package embedded

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// The test binary is another program where one of these environment variables
// names the directory of a store.
const (
	childDir   = "SITEPROVIDER_TEST_PUT_INTO" // puts documents, and prints the number of each that was acknowledged
	reindexDir = "SITEPROVIDER_TEST_REINDEX"  // reindexes, and prints what is done
	openDir    = "SITEPROVIDER_TEST_OPEN"     // opens a store, which migrates an old one, and says so
	deedsDir   = "SITEPROVIDER_TEST_DEEDS"    // see doDeeds
	scriptDir  = "SITEPROVIDER_TEST_SCRIPT"   // see followScript
	crowdDir   = "SITEPROVIDER_TEST_CROWD"    // see joinCrowd
	holdDir    = "SITEPROVIDER_TEST_HOLD"     // see holdTheWriter
)

var programs = map[string]func(dir string) error{
	childDir:   putForEver,
	reindexDir: reindexSlowly,
	deedsDir:   doDeeds,
	openDir:    openAndTell,
	scriptDir:  followScript,
	crowdDir:   joinCrowd,
	holdDir:    holdTheWriter,
}

func TestMain(m *testing.M) {
	for name, program := range programs {
		dir := os.Getenv(name)
		if dir == "" {
			continue
		}
		if err := program(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// long reports whether the long tests are asked for.
func long() bool { return os.Getenv("SITEPROVIDER_LONG") != "" }

// process is the test binary run as one of programs.
type process struct {
	*exec.Cmd
	in         io.WriteCloser
	said       chan string // its lines; closed when it has ended
	complaints bytes.Buffer
	waitOnce   sync.Once
	waitErr    error
}

// start starts a program on the store in dir, which reads lines of input and
// writes lines of output. It is killed at the end of the test at the latest.
func start(t testing.TB, program, dir string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0]), said: make(chan string, 1<<14)}
	p.Env = append(os.Environ(), program+"="+dir)
	p.Stderr = &p.complaints
	var err error
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.said)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			p.said <- lines.Text()
		}
	}()
	t.Cleanup(func() { p.kill() })
	return p
}

func (p *process) tell(format string, args ...any) error {
	_, err := fmt.Fprintf(p.in, format+"\n", args...)
	return err
}

// kill kills the process and returns what it had said that nobody has read.
func (p *process) kill() (said []string) {
	_ = p.Process.Kill()
	for line := range p.said {
		said = append(said, line)
	}
	_ = p.wait()
	return said
}

// wait waits for the end of the process, whose output must have been read. The
// error has what the process complained of.
func (p *process) wait() error {
	p.waitOnce.Do(func() {
		if p.waitErr = p.Wait(); p.waitErr != nil && p.complaints.Len() > 0 {
			p.waitErr = fmt.Errorf("%w: %s", p.waitErr, bytes.TrimSpace(p.complaints.Bytes()))
		}
	})
	return p.waitErr
}

// holdTheWriter is a process that begins to store a document, says "held", and
// ends when it has read a line.
func holdTheWriter(dir string) error {
	ctx := context.Background()
	s, err := Open(ctx, Options{Dir: dir})
	if err != nil {
		return err
	}
	err = s.files.write(ctx, func(tx *session) error {
		if _, err := tx.exec(ctx, "DELETE FROM document"); err != nil {
			return err
		}
		fmt.Println("held")
		bufio.NewScanner(os.Stdin).Scan()
		return errNothingToDo
	})
	if err != nil {
		return err
	}
	return s.Close()
}

// numbered is a document that a writerProcess puts.
func numbered(n int) provider.Document {
	return doc([]string{"a.example", "b.example", "c.example"}[n%3], fmt.Sprintf("https://x.example/%d", n), "", fmt.Sprintf("number%d of %s", n, strings.Repeat("many ", n%50)))
}

// putForEver puts numbered documents, from the number on that it reads, some of
// them in batches, and deletes every tenth again.
func putForEver(dir string) error {
	ctx := context.Background()
	s, err := Open(ctx, Options{Dir: dir})
	if err != nil {
		return err
	}
	var n int
	if _, err := fmt.Scan(&n); err != nil {
		return err
	}
	for {
		batch := 1 + n%40
		var docs []provider.Document
		for range batch {
			docs = append(docs, numbered(n))
			n++
		}
		if _, err := s.Put(ctx, docs); err != nil {
			return err
		}
		fmt.Println("put", n-batch, batch)
		if d := docs[0]; n%10 == 0 {
			fmt.Println("deleting", n-batch)
			if _, err := s.Delete(ctx, provider.Selector{Site: d.Site, URLs: []string{d.URL}}); err != nil {
				return err
			}
			fmt.Println("deleted", n-batch)
		}
	}
}

// readOutcomes records what a child says. It sends on told after the first
// outcome and closes it at the end.
func readOutcomes(out io.Reader, acknowledged map[int]bool, next *int, told chan<- struct{}) {
	defer close(told)
	lines := bufio.NewScanner(out)
	for first := true; lines.Scan(); first = false {
		var what string
		var n, batch int
		_, _ = fmt.Sscan(lines.Text(), &what, &n, &batch)
		switch what {
		case "put":
			for i := range batch {
				acknowledged[n+i] = true
			}
			*next = n + batch
		case "deleting":
			delete(acknowledged, n) // not known until it is acknowledged
		case "deleted":
			acknowledged[n] = false
		}
		if first {
			told <- struct{}{}
		}
	}
}
