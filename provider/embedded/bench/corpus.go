package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"sort"
	"strconv"

	"github.com/siteprovider/siteprovider/provider"
)

// corpus is the documents of a run, made on demand from those of a file. The
// same file, size, number of sites and seed give the same documents.
type corpus struct {
	originals []original
	n         int    // documents in all; those past the originals are copies of them
	seed      uint64 // of the sites and of the words changed in copies

	names  []string  // of the assigned sites; nil: the documents keep their own
	upTo   []float64 // cumulated weight of each assigned site
	copier *copier   // nil where there are no copies
}

// original is a document of the file.
type original struct {
	url, site string
	schema    []byte
}

// newCorpus makes a corpus of n documents, 0 for as many as there are originals.
// Originals that name as many sites as are wanted, or with sites 0, keep their
// own; otherwise site number k gets a share proportional to 1/k of the
// documents, at random.
func newCorpus(originals []original, n, sites int, seed uint64) (*corpus, error) {
	if n == 0 {
		n = len(originals)
	}
	if n < len(originals) { // evenly, because files are often sorted
		few := make([]original, n)
		for i := range few {
			few[i] = originals[i*len(originals)/n]
		}
		originals = few
	}
	c := &corpus{originals: originals, n: n, seed: seed}
	c.assignSites(sites)
	var err error
	if n > len(originals) {
		c.copier, err = newCopier(originals, c.rng(0, 1))
	}
	return c, err
}

// loadOriginals reads the documents of file.
func loadOriginals(file string) ([]original, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	defer f.Close()
	originals, err := readOriginals(f)
	if err != nil {
		return nil, fmt.Errorf("read documents: %s: %w", file, err)
	}
	return originals, nil
}

// readOriginals reads lines that are {url, site, schema} or bare objects with a
// url. Of several documents with one URL it keeps the first.
func readOriginals(r io.Reader) ([]original, error) {
	lines := bufio.NewReader(r)
	seen := map[string]bool{}
	var list []original
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			o, err := parseOriginal(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			if !seen[o.url] {
				seen[o.url] = true
				list = append(list, o)
			}
		}
		switch {
		case err == io.EOF && len(list) == 0:
			return nil, errors.New("holds no document")
		case err == io.EOF:
			return list, nil
		case err != nil:
			return nil, err
		}
	}
}

func parseOriginal(line []byte) (original, error) {
	var v struct {
		URL    string
		Site   string
		Schema json.RawMessage
	}
	if err := json.Unmarshal(line, &v); err != nil {
		return original{}, err
	}
	if v.Schema == nil {
		v.Schema = bytes.TrimSpace(line)
	}
	if v.URL == "" {
		return original{}, errors.New("the document has no url")
	}
	if u, err := url.Parse(v.URL); err == nil && v.Site == "" {
		v.Site = u.Hostname()
	}
	return original{v.URL, v.Site, v.Schema}, nil
}

func (c *corpus) assignSites(want int) {
	own := map[string]bool{}
	for _, o := range c.originals {
		own[o.site] = true
	}
	if want == 0 || want == len(own) {
		return
	}
	total := 0.0
	for k := range want {
		c.names = append(c.names, fmt.Sprintf("site%04d.example", k+1))
		total += 1 / float64(k+1)
		c.upTo = append(c.upTo, total)
	}
}

// rng is the source of chance for one purpose of document i.
func (c *corpus) rng(i, purpose int) *rand.Rand {
	return rand.New(rand.NewPCG(c.seed, uint64(i)<<8|uint64(purpose)))
}

// documents makes those from number from up to, not including, number to.
func (c *corpus) documents(from, to int) ([]provider.Document, error) {
	docs := make([]provider.Document, 0, to-from)
	for i := from; i < to; i++ {
		d, err := c.document(i)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

func (c *corpus) document(i int) (provider.Document, error) {
	o := &c.originals[i%len(c.originals)]
	d := provider.Document{URL: o.url, Site: c.site(i), Schema: o.schema}
	if number := i / len(c.originals); number > 0 {
		d.URL += "/copy" + strconv.Itoa(number)
		var err error
		if d.Schema, err = c.copier.copy(o, d.URL, c.rng(i, 2)); err != nil {
			return provider.Document{}, err
		}
	}
	return d, nil
}

// site returns the site of document i.
func (c *corpus) site(i int) string {
	if c.names == nil {
		return c.originals[i%len(c.originals)].site
	}
	x := c.rng(i, 3).Float64() * c.upTo[len(c.upTo)-1]
	return c.names[min(sort.SearchFloat64s(c.upTo, x), len(c.names)-1)]
}

// siteSizes returns the number of documents of each site.
func (c *corpus) siteSizes() map[string]int {
	sizes := map[string]int{}
	for i := range c.n {
		sizes[c.site(i)]++
	}
	return sizes
}
