package embedded

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/schemaorg"
)

// Search returns the documents of the scope that have any word of the query.
func (s *Store) Search(ctx context.Context, q provider.Query) (*provider.Result, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if q, err = q.Check(); err != nil {
		return nil, err
	}
	if q.Blank() {
		return &provider.Result{}, nil
	}
	filter, err := schemaorg.CompileFilter(q.Filter)
	if err != nil {
		return nil, err
	}
	words := queryWords(q.Text)
	var result *provider.Result
	err = s.mending(ctx, func() error {
		result = &provider.Result{}
		return s.files.read(ctx, func(tx *session) error {
			return s.search(ctx, tx, q, words, filter, result)
		})
	})
	if err != nil {
		return nil, failure(ctx, "search", err)
	}
	if len(result.Hits) > 0 {
		result.ScoreKind = provider.ScoreBM25
	}
	return result, nil
}

func (s *Store) search(ctx context.Context, tx *session, q provider.Query, words []queryWord, filter *schemaorg.Matcher, result *provider.Result) error {
	c, err := s.sites.load(ctx, tx)
	if err != nil {
		return err
	}
	sites, unknown := c.scope(q.Scope)
	noticeUnknown(result, c, unknown)
	if len(words) == 0 || len(sites) == 0 {
		return nil
	}
	f := &finder{ctx: ctx, tx: tx, words: words, limit: q.Limit}
	if len(q.Filter) > 0 {
		f.filter = filter
	}
	f.stemmer = s.stemmers.Get().(*stemmer)
	defer s.stemmers.Put(f.stemmer)
	scratch := s.scratches.Get().(*scratch)
	defer s.scratches.Put(scratch)
	f.room = provider.MaxReplyBytes
	ranked, err := f.find(s, scratch, sites)
	if err != nil {
		return err
	}
	for i := range ranked {
		result.Hits = append(result.Hits, ranked[i].Hit)
	}
	result.Fit()
	return f.fill(result.Hits, ranked)
}

// maxNotices bounds the sites of a scope that are reported as unknown.
const maxNotices = 10

func noticeUnknown(result *provider.Result, c *catalogue, unknown []string) {
	for _, name := range unknown[:min(len(unknown), maxNotices)] {
		message := fmt.Sprintf("the site %q holds nothing", name)
		if near, ok := c.nearest(name); ok {
			message += fmt.Sprintf("; did you mean %q?", near)
		}
		result.AddStatus(provider.Status{Code: provider.StatusSiteUnknown, Message: message, Kind: provider.StatusNotice})
	}
}

// rankedHit is a hit. Where later is not 0, its Schema only has the length of the
// object, which is to be read from that row.
type rankedHit struct {
	provider.Hit
	later int64
}

// finder turns a ranking into hits.
type finder struct {
	ctx     context.Context
	tx      *session
	stemmer *stemmer
	words   []queryWord
	filter  *schemaorg.Matcher // nil: none
	limit   int

	highlighter *highlighter
	types       map[string][]string // as they are in rows -> as they are in hits
	room        int                 // bytes of objects that may still be held
	blank       []byte              // stands in for an object that is not held
	unpacked    []byte              // room for an object that a filter looks at
}

func (f *finder) find(s *Store, scratch *scratch, sites []siteRow) ([]rankedHit, error) {
	indexes, err := s.searched(f.ctx, f.tx, sites)
	if err != nil {
		return nil, err
	}
	w := want(f.stemmer, f.words, indexes.stats)
	f.highlighter = newHighlighter(f.stemmer, f.words, indexes.stats.spoken())
	if f.filter == nil {
		list, err := indexes.rank(f.ctx, scratch, w, f.limit, nil)
		if err != nil {
			return nil, err
		}
		return f.fetch(list)
	}
	var hits []rankedHit
	var last *candidate
	for {
		list, err := indexes.rank(f.ctx, scratch, w, maxRanked, last)
		if err != nil || len(list) == 0 {
			return hits, err
		}
		last = &candidate{}
		*last = list[len(list)-1]
		for batch := f.limit; len(list) > 0; batch = min(2*batch, maxBatch) {
			n := min(batch, len(list))
			found, err := f.fetch(list[:n])
			if err != nil {
				return nil, err
			}
			if hits = append(hits, found...); len(hits) >= f.limit {
				return hits[:f.limit], nil
			}
			list = list[n:]
		}
	}
}

// maxRanked bounds the candidates held at once while a filter leaves out most.
const maxRanked = 1 << 16

// maxBatch bounds the objects read at once while a filter leaves out most.
const maxBatch = 2000

// fetch reads the documents of candidates, one at a time, and returns the hits,
// in order, that the filter leaves.
func (f *finder) fetch(list []candidate) ([]rankedHit, error) {
	ids := make([]int64, len(list))
	at := make(map[int64]int, len(list))
	spoken := make([]language, len(list))
	for i, c := range list {
		ids[i], spoken[i] = c.part.document(c.doc)
		at[ids[i]] = i
	}
	hits := make([]rankedHit, len(list))
	read := make([]bool, len(list))
	err := eachQuickly(f.ctx, f.tx, func(rows *sql.Rows) error {
		var id, crc int64
		var hit rankedHit
		var types, declared string
		var text, packed sql.RawBytes
		if err := rows.Scan(&id, &hit.URL, &hit.Name, &types, &declared, &crc, &text, &packed); err != nil {
			return err
		}
		if err := checkRow(crc, hit.URL, hit.Name, types, declared, text, packed); err != nil {
			return err
		}
		object, err := unpackObject(f.unpacked, packed)
		if err != nil {
			return err
		}
		i := at[id]
		read[i] = true
		if f.filter != nil {
			f.unpacked = object
			if !f.filter.Match(object) {
				return nil
			}
		}
		hit.Site = list[i].part.site.name
		if hit.Types, err = f.typesOf(types); err != nil {
			return err
		}
		whole, err := unpackText(object, text)
		if err != nil {
			return err
		}
		hit.Passage = f.highlighter.passage(whole, spoken[i])
		f.hold(&hit, id, object)
		hits[i] = hit
		return nil
	}, "SELECT id, url, name, types, language, crc, text, schema FROM document WHERE id IN (SELECT value FROM json_each(?))", idList(ids))
	if err != nil {
		return nil, err
	}
	if i := slices.Index(read, false); i >= 0 {
		site := *list[i].part.site
		return nil, damagedIndex(site, damaged("a document in the index of site %q is not in the store", site.name))
	}
	kept := hits[:0]
	for _, hit := range hits {
		if hit.URL != "" {
			kept = append(kept, hit)
		}
	}
	return kept, nil
}

// typesOf reads the types of a document, of which many have the same.
func (f *finder) typesOf(row string) ([]string, error) {
	list, ok := f.types[row]
	if !ok && row != "" {
		if err := json.Unmarshal([]byte(row), &list); err != nil {
			return nil, damaged("the types of a document are damaged: %v", err)
		}
		if f.types == nil {
			f.types = make(map[string][]string)
		}
		f.types[row] = list
	}
	return slices.Clone(list), nil
}

// hold gives a hit its object while all that are held might fit into a reply.
// Which of them do is known only when every hit is, and goes by their lengths.
func (f *finder) hold(hit *rankedHit, row int64, object []byte) {
	if len(object) <= f.room {
		f.room -= len(object)
		if f.filter != nil {
			object = bytes.Clone(object)
		}
		hit.Schema = object
		return
	}
	if len(object) > len(f.blank) {
		f.blank = make([]byte, max(len(object), provider.MaxObjectBytes))
	}
	hit.Schema, hit.later = f.blank[:len(object)], row
}

// fill reads the objects that were not held and turned out to fit.
func (f *finder) fill(hits []provider.Hit, ranked []rankedHit) error {
	for i := range hits {
		if ranked[i].later == 0 || len(hits[i].Schema) == 0 {
			continue
		}
		hits[i].Schema = nil
		var packed []byte
		err := f.tx.row(f.ctx, "SELECT schema FROM document WHERE id = ?", ranked[i].later).Scan(&packed)
		if err != nil {
			return err
		}
		if hits[i].Schema, err = unpackObject(nil, packed); err != nil {
			return err
		}
	}
	return nil
}
