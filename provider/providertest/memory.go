package providertest

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/schemaorg"
)

// Memory is a provider that keeps its documents in memory and does everything
// the plainest way. It is the reference of the suite and serves the tests of
// other packages; it is not meant for more than some thousand documents.
type Memory struct {
	// Before, when set, runs at the start of every method with the
	// method's name. An error it returns is the method's. Set it before
	// the first call.
	Before func(ctx context.Context, method string) error

	mu     sync.RWMutex
	sites  map[string]map[string]*memoryDocument
	closed bool
}

type memoryDocument struct {
	provider.Document
	hash  string
	words map[string]int
	count int
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{sites: make(map[string]map[string]*memoryDocument)}
}

// Search ranks the documents of the scope that share a word with the query by
// BM25 (k1 1.2, b 0.75) over the statistics of the scope.
func (m *Memory) Search(ctx context.Context, q provider.Query) (*provider.Result, error) {
	if err := m.enter(ctx, "Search"); err != nil {
		return nil, err
	}
	q, err := q.Check()
	if err != nil {
		return nil, err
	}
	res := &provider.Result{}
	if q.Blank() {
		return res, nil
	}
	matcher, err := schemaorg.CompileFilter(q.Filter)
	if err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	terms := slices.Compact(slices.Sorted(slices.Values(words(q.Text))))
	for _, d := range m.rank(q.Scope, terms) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(res.Hits) == q.Limit {
			break
		}
		if !matcher.Match(d.Schema) {
			continue
		}
		res.Hits = append(res.Hits, provider.Hit{
			URL: d.URL, Site: d.Site, Name: d.Name, Types: slices.Clone(d.Types),
			Schema: slices.Clone(d.Schema), Passage: passage(d.Text, terms),
		})
	}
	if len(res.Hits) > 0 {
		res.ScoreKind = provider.ScoreBM25
	}
	m.noticeUnknown(q.Scope, res)
	res.Fit()
	return res, nil
}

func (m *Memory) rank(scope provider.Scope, terms []string) []*memoryDocument {
	type scored struct {
		*memoryDocument
		score float64
	}
	var all []*memoryDocument
	total := 0
	for _, site := range m.inScope(scope) {
		for _, d := range m.sites[site] {
			all = append(all, d)
			total += d.count
		}
	}
	df := make(map[string]int, len(terms))
	for _, d := range all {
		for _, t := range terms {
			if d.words[t] > 0 {
				df[t]++
			}
		}
	}
	var found []scored
	mean := float64(total) / float64(max(len(all), 1))
	for _, d := range all {
		score := 0.0
		for _, t := range terms {
			tf := float64(d.words[t])
			idf := math.Log(1 + (float64(len(all)-df[t])+0.5)/(float64(df[t])+0.5))
			score += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(d.count)/mean))
		}
		if score > 0 {
			found = append(found, scored{d, score})
		}
	}
	slices.SortFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.URL, b.URL), cmp.Compare(a.Site, b.Site))
	})
	out := make([]*memoryDocument, len(found))
	for i, f := range found {
		out[i] = f.memoryDocument
	}
	return out
}

// inScope returns the sites of scope that hold something, sorted.
func (m *Memory) inScope(scope provider.Scope) []string {
	if scope.All() {
		return slices.Sorted(maps.Keys(m.sites))
	}
	var in []string
	for _, s := range scope.Sites() {
		if len(m.sites[s]) > 0 {
			in = append(in, s)
		}
	}
	slices.Sort(in)
	return in
}

func (m *Memory) noticeUnknown(scope provider.Scope, res *provider.Result) {
	for _, s := range scope.Sites() {
		if len(m.sites[s]) == 0 {
			res.AddStatus(provider.Status{
				Code: provider.StatusSiteUnknown, Kind: provider.StatusNotice,
				Message: "nothing is stored for the site " + s,
			})
		}
	}
}

// Get looks for each URL as it is, then in its normal form.
func (m *Memory) Get(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
	if err := m.enter(ctx, "Get"); err != nil {
		return nil, err
	}
	l, err := l.Check()
	if err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	sites := m.inScope(l.Scope)
	out := make([]provider.Object, len(l.URLs))
	for i, u := range l.URLs {
		out[i] = provider.Object{URL: u}
		found := m.holders(sites, u)
		if len(found) == 0 {
			continue
		}
		pick := found[0]
		for _, d := range found {
			if d.Site == provider.HostSite(u) {
				pick = d
				break
			}
		}
		out[i] = provider.Object{
			URL: pick.URL, Site: pick.Site, Found: true,
			Ambiguous: len(found) > 1, Schema: slices.Clone(pick.Schema),
		}
	}
	return out, nil
}

// holders returns one document per site that holds u, those that hold it
// exactly if there are any.
func (m *Memory) holders(sites []string, u string) []*memoryDocument {
	var exact, normal []*memoryDocument
	form := provider.NormalURL(u)
	for _, s := range sites {
		if d := m.sites[s][u]; d != nil {
			exact = append(exact, d)
			continue
		}
		for _, stored := range slices.Sorted(maps.Keys(m.sites[s])) {
			if provider.NormalURL(stored) == form {
				normal = append(normal, m.sites[s][stored])
				break
			}
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return normal
}

// List returns a page of a site.
func (m *Memory) List(ctx context.Context, q provider.ListQuery) ([]provider.Entry, error) {
	if err := m.enter(ctx, "List"); err != nil {
		return nil, err
	}
	q, err := q.Check()
	if err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []provider.Entry
	for _, u := range slices.Sorted(maps.Keys(m.sites[q.Site])) {
		if u > q.After && len(out) < q.Limit {
			out = append(out, provider.Entry{URL: u, Hash: m.sites[q.Site][u].hash, Indexed: true})
		}
	}
	return out, nil
}

// Sites returns every site.
func (m *Memory) Sites(ctx context.Context) ([]provider.Site, error) {
	if err := m.enter(ctx, "Sites"); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []provider.Site
	for _, s := range slices.Sorted(maps.Keys(m.sites)) {
		out = append(out, provider.Site{Site: s, Documents: int64(len(m.sites[s]))})
	}
	return out, nil
}

// Put keeps docs.
func (m *Memory) Put(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
	if err := m.enter(ctx, "Put"); err != nil {
		return nil, err
	}
	if err := provider.CheckBatch(docs); err != nil {
		return nil, err
	}
	out := make([]provider.PutResult, len(docs))
	last := make(map[[2]string]int)
	checked := make([]provider.Document, len(docs))
	for i, d := range docs {
		out[i] = provider.PutResult{Site: d.Site, URL: d.URL}
		var err error
		if checked[i], err = d.Check(provider.DocumentArg(i)); err != nil {
			out[i].Outcome, out[i].Err = provider.Failed, err
			continue
		}
		out[i].Site = checked[i].Site
		last[[2]string{checked[i].Site, d.URL}] = i
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, d := range checked {
		switch {
		case out[i].Outcome == provider.Failed:
		case last[[2]string{d.Site, d.URL}] != i:
			out[i].Outcome = provider.Superseded
		default:
			out[i].Outcome = m.put(d)
		}
	}
	return out, nil
}

func (m *Memory) put(d provider.Document) provider.Outcome {
	hash := d.Hash()
	if old := m.sites[d.Site][d.URL]; old != nil && old.hash == hash {
		return provider.Unchanged
	}
	d.Schema = slices.Clone(d.Schema)
	kept := &memoryDocument{Document: schemaorg.Fill(d), hash: hash, words: make(map[string]int)}
	for _, w := range words(kept.Name + "\n" + kept.Text) {
		kept.words[w]++
		kept.count++
	}
	if m.sites[d.Site] == nil {
		m.sites[d.Site] = make(map[string]*memoryDocument)
	}
	m.sites[d.Site][d.URL] = kept
	return provider.Stored
}

// Delete removes documents.
func (m *Memory) Delete(ctx context.Context, sel provider.Selector) (int, error) {
	if err := m.enter(ctx, "Delete"); err != nil {
		return 0, err
	}
	sel, err := sel.Check()
	if err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if sel.WholeSite {
		n := len(m.sites[sel.Site])
		delete(m.sites, sel.Site)
		return n, nil
	}
	n := 0
	for _, u := range sel.URLs {
		if m.sites[sel.Site][u] != nil {
			delete(m.sites[sel.Site], u)
			n++
		}
	}
	if len(m.sites[sel.Site]) == 0 {
		delete(m.sites, sel.Site)
	}
	return n, nil
}

// Info describes the memory.
func (m *Memory) Info(ctx context.Context) (provider.Info, error) {
	if err := m.enter(ctx, "Info"); err != nil {
		return provider.Info{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	info := provider.Info{
		Name: "siteprovider", Version: "test", Backend: "memory",
		Capabilities: []provider.Capability{provider.CanFilter, provider.CanList, provider.CanWrite},
	}
	for _, docs := range m.sites {
		info.Documents += int64(len(docs))
	}
	return info, nil
}

// Close makes later calls fail.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

func (m *Memory) enter(ctx context.Context, method string) error {
	if m.Before != nil {
		if err := m.Before(ctx, method); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return provider.Errorf(provider.ErrUnavailable, "the provider is closed")
	}
	return nil
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// passage returns the stretch of text, at most what a passage may hold, that
// holds the most terms.
func passage(text string, terms []string) string {
	best, most := "", -1
	for len(text) > 0 {
		stretch := text
		if len(stretch) > provider.MaxPassageBytes {
			stretch = stretch[:provider.MaxPassageBytes]
			if cut := strings.LastIndexFunc(stretch, unicode.IsSpace); cut > 0 {
				stretch = stretch[:cut]
			}
			stretch = strings.ToValidUTF8(stretch, "")
		}
		n := 0
		for _, w := range words(stretch) {
			if _, ok := slices.BinarySearch(terms, w); ok {
				n++
			}
		}
		if n > most {
			best, most = stretch, n
		}
		text = text[max(len(stretch), 1):]
	}
	return strings.TrimSpace(best)
}

var _ provider.Provider = (*Memory)(nil)
