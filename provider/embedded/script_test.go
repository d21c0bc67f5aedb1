package embedded

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// scriptSites are the sites that every script writes to, besides one of its own.
var scriptSites = []string{"a.example", "b.example", "c.example"}

// script makes up what one of several writers does. It depends on nothing but
// the seeds, so that another process can tell what the writer has done.
type script struct {
	word    string // which all its documents have, and no others
	random  *rand.Rand
	version int
	there   map[[2]string]provider.Document // by site and URL
}

func newScript(word string) *script {
	return &script{word: word, there: make(map[[2]string]provider.Document)}
}

// step is one call, and what it counts.
type step struct {
	docs       []provider.Document
	sel        provider.Selector
	tidy       string // see tidy
	operations int
	want       int // documents deleted
}

// seed begins a round, whose steps follow from the seed and from what is there.
func (s *script) seed(seed uint64) { s.random = rand.New(rand.NewPCG(seed, uint64(len(s.word)))) }

func (s *script) own() string { return s.word + ".example" }

// next makes up the next step and takes it as done.
func (s *script) next() step {
	sites := append([]string{s.own()}, scriptSites...)
	site := sites[s.random.IntN(len(sites))]
	switch s.random.IntN(24) {
	case 0:
		return step{tidy: []string{"merge", "compact"}[s.random.IntN(2)], operations: 1}
	case 1:
		return step{sel: provider.Selector{Site: s.own(), WholeSite: true}, operations: 1, want: s.drop(s.own())}
	case 2, 3, 4, 5:
		st := step{sel: provider.Selector{Site: site}}
		for range 1 + s.random.IntN(20) {
			url := s.url()
			if _, ok := s.there[[2]string{site, url}]; ok {
				delete(s.there, [2]string{site, url})
				st.want++
			}
			st.sel.URLs = append(st.sel.URLs, url)
		}
		st.operations = len(st.sel.URLs)
		return st
	}
	var st step
	for range 1 + s.random.IntN(1+s.random.IntN(60)) {
		s.version++
		d := provider.Document{
			Site: sites[s.random.IntN(len(sites))], URL: s.url(), Name: someText(s.random, s.random.IntN(4)),
			Language: []string{"", "en", "de", "fr", "ja"}[s.random.IntN(5)],
			Schema:   fmt.Appendf(nil, `{"@type":"Article","version":%d}`, s.version),
		}
		// Texts are often the same, so that ties are.
		d.Text = s.word + " " + someText(rand.New(rand.NewPCG(s.random.Uint64N(300), 1)), 1+s.random.IntN(2)*s.random.IntN(40))
		st.docs = append(st.docs, d)
		s.there[[2]string{d.Site, d.URL}] = d
	}
	st.operations = len(st.docs)
	return st
}

// url makes up a URL of the script's hundred on each site. Some differ only in
// letters of several bytes.
func (s *script) url() string {
	n := s.random.IntN(100)
	return fmt.Sprintf("https://%s.example/%s%02d", s.word, []string{"", "", "é", "€", "😀"}[n%5], n)
}

// drop takes all documents of a site as deleted.
func (s *script) drop(site string) (documents int) {
	before := len(s.there)
	maps.DeleteFunc(s.there, func(id [2]string, _ provider.Document) bool { return id[0] == site })
	return before - len(s.there)
}

func (st step) do(ctx context.Context, s *Store) error {
	switch {
	case st.docs != nil:
		results, err := s.Put(ctx, st.docs)
		if err != nil {
			return err
		}
		for _, r := range results {
			if r.Err != nil {
				return r.Err
			}
		}
	case st.sel.Site != "":
		n, err := s.Delete(ctx, st.sel)
		if err != nil {
			return err
		}
		if n != st.want {
			return fmt.Errorf("deleted %d documents of %s, want %d", n, st.sel.Site, st.want)
		}
	default:
		return tidy(s, st.tidy)
	}
	return nil
}

// versions are the documents that are there, by what they say their version is.
func (s *script) versions() map[string]bool {
	all := make(map[string]bool, len(s.there))
	for id, d := range s.there {
		all[id[0]+" "+id[1]+" "+string(d.Schema)] = true
	}
	return all
}

// followScript is a process that reads a word, then lines of "round SEED STEPS"
// and "drop SITE", and answers each with "done" when it has done it. Its store
// tidies up at every opportunity.
func followScript(dir string) error {
	ctx := context.Background()
	s, err := Open(ctx, Options{Dir: dir, calm: time.Millisecond})
	if err != nil {
		return err
	}
	var script *script
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var seed uint64
		var steps int
		words := strings.Fields(lines.Text())
		switch {
		case script == nil:
			script = newScript(words[0])
		case words[0] == "drop":
			script.drop(words[1])
		default:
			fmt.Sscan(words[1], &seed)
			fmt.Sscan(words[2], &steps)
			script.seed(seed)
		}
		for range steps {
			if err := script.next().do(ctx, s); err != nil {
				return err
			}
		}
		fmt.Println("done")
	}
	return s.Close()
}

// union returns the documents of several scripts.
func union(scripts ...*script) map[[2]string]provider.Document {
	all := make(map[[2]string]provider.Document)
	for _, s := range scripts {
		maps.Copy(all, s.there)
	}
	return all
}

// sites returns all sites that scripts write to, in any order.
func sitesOf(random *rand.Rand, scripts ...*script) []string {
	list := slices.Clone(scriptSites)
	for _, s := range scripts {
		list = append(list, s.own())
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
