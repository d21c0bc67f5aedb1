package embedded

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// drink is a document that is found by one word.
func drink(word string) provider.Document {
	return doc("a.example", "https://a.example/"+word, "", word)
}

func TestAStoreThatTakesThePlaceOfAnotherIsTheOneThatAnswers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be removed")
	}
	dir := filepath.Join(t.TempDir(), "d")
	s := open(t, Options{Dir: dir})
	put(t, s, drink("tea"))
	wantFound(t, s, "tea", provider.AllSites(), "https://a.example/tea")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	_, err := s.Search(t.Context(), provider.Query{Text: "tea", Scope: provider.AllSites()})
	wantError(t, err, provider.ErrUnavailable, "removed", FileName)
	_, err = s.Put(t.Context(), []provider.Document{drink("rice")})
	wantError(t, err, provider.ErrUnavailable, "removed", FileName)
	if Exists(dir) {
		t.Error("a store that was removed came back by itself")
	}

	other := open(t, Options{Dir: dir})
	put(t, other, drink("coffee")) // the same generation, site number and row number as before
	wantFound(t, s, "tea", provider.AllSites())
	wantFound(t, s, "coffee", provider.AllSites(), "https://a.example/coffee")
	put(t, s, drink("cocoa"))
	wantFound(t, other, "cocoa", provider.AllSites(), "https://a.example/cocoa")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, other, drink("juice"))
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	other = open(t, Options{Dir: dir})
	checked(t, other)
	wantFound(t, other, "juice", provider.AllSites(), "https://a.example/juice")
}

// An older copy of a store's file takes its place, and comes to have as many
// transactions as the file had: nothing that was in memory of that one counts.
func TestAnOlderCopyOfTheFileIsNotTakenForTheFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be replaced")
	}
	dir, old := t.TempDir(), t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, drink("tea"))
	s.Close()
	copyStore(t, dir, old, FileName)
	s = open(t, Options{Dir: dir})
	put(t, s, drink("rice"))
	put(t, s, drink("soup"))
	wantFound(t, s, "tea rice soup", provider.AllSites(), "https://a.example/rice", "https://a.example/soup", "https://a.example/tea")

	other := open(t, Options{Dir: old})
	put(t, other, drink("cocoa"))
	put(t, other, drink("juice"))
	other.Close()
	takePlace(t, old, dir)
	wantFound(t, s, "tea rice soup", provider.AllSites(), "https://a.example/tea")
	wantFound(t, s, "cocoa", provider.AllSites(), "https://a.example/cocoa")
	put(t, s, drink("bread"))
	wantFound(t, s, "tea rice soup bread", provider.AllSites(), "https://a.example/bread", "https://a.example/tea")
	wantFound(t, open(t, Options{Dir: dir}), "juice bread", provider.AllSites(), "https://a.example/bread", "https://a.example/juice")
	remove(t, s, provider.Selector{Site: "a.example", URLs: []string{"https://a.example/juice"}})
	checked(t, s)
}

// What was merged of one file is not put in the place of what another file has
// under the same numbers.
func TestAFileThatIsReplacedDuringAMergeKeepsItsOwn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be replaced")
	}
	dir, old := t.TempDir(), t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, drink("tea"))
	s.Close()
	copyStore(t, dir, old, FileName)
	twoSegments := func(s *Store, word string) {
		for _, n := range []int{200, 100} {
			var docs []provider.Document
			for i := range n {
				docs = append(docs, drink(fmt.Sprintf("%s%d", word, 1000*n+i)))
			}
			put(t, s, docs...)
		}
	}
	s = open(t, Options{Dir: dir})
	twoSegments(s, "coffee")
	k := newKeeper(s, time.Hour)
	list, _, err := k.plan(t.Context(), 1)
	if err != nil || len(list) != 1 || list[0].merge(t.Context()) != nil {
		t.Fatalf("%d merges planned, %v; want 1", len(list), err)
	}
	other := open(t, Options{Dir: old})
	twoSegments(other, "cocoa")
	other.Close()
	takePlace(t, old, dir)
	if _, err := k.swap(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	checked(t, s)
	wantFound(t, s, "cocoa100007", provider.AllSites(), "https://a.example/cocoa100007")
	wantFound(t, s, "coffee100007", provider.AllSites())
}

// takePlace puts the file of a closed store in the place of another's.
func takePlace(t *testing.T, from, to string) {
	t.Helper()
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(filepath.Join(to, FileName+suffix)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(filepath.Join(from, FileName), filepath.Join(to, FileName)); err != nil {
		t.Fatal(err)
	}
}

// copyStore copies what a killed process would leave of a store that is open.
func copyStore(t *testing.T, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestALogIsOnlyReplayedIntoItsOwnFile(t *testing.T) {
	const log = FileName + "-wal"
	dir, backup, other := t.TempDir(), t.TempDir(), t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, drink("tea"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	copyStore(t, dir, backup, FileName)
	s = open(t, Options{Dir: dir})
	put(t, s, drink("rice"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, Options{Dir: dir})
	// A log may begin with a transaction that does not change the generation.
	err := s.files.write(t.Context(), func(tx *session) error {
		_, err := tx.exec(t.Context(), "UPDATE document SET version = version")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, drink("soup"))
	put(t, s, drink("bread"))
	alien := open(t, Options{Dir: other})
	put(t, alien, drink("coffee"))

	t.Run("its own", func(t *testing.T) {
		killed := t.TempDir()
		copyStore(t, dir, killed, FileName, log)
		wantFound(t, open(t, Options{Dir: killed}), "bread", provider.AllSites(), "https://a.example/bread")
	})
	t.Run("its own, cut off anywhere", func(t *testing.T) {
		raw, err := os.ReadFile(filepath.Join(dir, log))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 31, 32, 40, 56, 1000, 32 + 24 + pageBytes, len(raw) / 2, len(raw) - 1} {
			killed := t.TempDir()
			copyStore(t, dir, killed, FileName)
			if err := os.WriteFile(filepath.Join(killed, log), raw[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			wantFound(t, open(t, Options{Dir: killed}), "rice", provider.AllSites(), "https://a.example/rice")
		}
	})
	for _, c := range []struct{ name, file, log string }{
		{"of a later state than a backup", backup, dir},
		{"of another store", dir, other},
	} {
		t.Run(c.name, func(t *testing.T) {
			restored := t.TempDir()
			copyStore(t, c.log, restored, log)
			copyStore(t, c.file, restored, FileName)
			path := filepath.Join(restored, FileName)
			before, _ := os.ReadFile(path)
			_, err := Open(t.Context(), Options{Dir: restored})
			wantError(t, err, provider.ErrCorrupt, log, "another file", "away")
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
			if err := os.Remove(path + "-wal"); err != nil {
				t.Fatal(err)
			}
			wantFound(t, open(t, Options{Dir: restored}), "tea", provider.AllSites(), "https://a.example/tea")
		})
	}
}
