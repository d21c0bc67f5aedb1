package embedded

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// The test binary is another program where one of these environment variables
// names the directory of a store.
const (
	childDir   = "SITEPROVIDER_TEST_PUT_INTO" // puts documents, and prints the number of each that was acknowledged
	compactDir = "SITEPROVIDER_TEST_COMPACT"  // the same, and compacts the store after each batch
	reindexDir = "SITEPROVIDER_TEST_REINDEX"  // reindexes, and prints what is done
)

func TestMain(m *testing.M) {
	for name, program := range map[string]func(dir string) error{childDir: putForEver, compactDir: compactForEver, reindexDir: reindexSlowly} {
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

func numbered(n int) provider.Document {
	return doc([]string{"a.example", "b.example", "c.example"}[n%3], fmt.Sprintf("https://x.example/%d", n), "", fmt.Sprintf("number%d of %s", n, strings.Repeat("many ", n%50)))
}

// putForEver puts numbered documents, from the number on that it reads, some of
// them in batches, and deletes every tenth again.
func putForEver(dir string) error { return putAnd(dir, func(*Store) error { return nil }) }

func compactForEver(dir string) error {
	return putAnd(dir, func(s *Store) error {
		_, err := s.Compact(context.Background())
		return err
	})
}

// putAnd is putForEver that does something after each batch.
func putAnd(dir string, after func(*Store) error) error {
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
		if err := after(s); err != nil {
			return err
		}
	}
}

// What a process was told is stored survives that process, however it ends.
func TestKilledWritersLoseNothingThatWasAcknowledged(t *testing.T) {
	kills := 6
	if long() {
		kills = 100
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	acknowledged := make(map[int]bool) // whether it must be there; false: must not
	next := 0
	beside := open(t, Options{Dir: dir}) // sees what the others write
	for i := range kills {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), []string{childDir, compactDir}[i%2]+"="+dir)
		child.Stdin = strings.NewReader(fmt.Sprintln(next))
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		told := make(chan struct{})
		go func() { readOutcomes(out, acknowledged, &next, told) }()
		<-told // the first outcome, or the end
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for range told {
		}
		_ = child.Wait()
		next += 100 // what was under way may be there or not
	}
	s := open(t, Options{Dir: dir})
	there := 0
	for n, want := range acknowledged {
		d := numbered(n)
		for _, s := range []*Store{s, beside} {
			objects, err := s.Get(t.Context(), provider.Lookup{URLs: []string{d.URL}, Scope: provider.InSites(d.Site)})
			if err != nil {
				t.Fatal(err)
			}
			if objects[0].Found != want {
				t.Fatalf("Get of %d: found is %t, want %t", n, objects[0].Found, want)
			}
			if got := found(t, s, fmt.Sprintf("number%d", n), provider.AllSites()); want != (len(got) == 1 && got[0] == d.URL) {
				t.Fatalf("Search for %d found %q; there is %t", n, got, want)
			}
		}
		if want {
			there++
		}
	}
	if there == 0 {
		t.Fatal("no document was acknowledged: nothing was tried")
	}
	checked(t, s)
	t.Logf("%d kills, %d documents acknowledged, all of them there", kills, there)
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
