package embedded

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/siteprovider/siteprovider/provider"
)

// holder is a document that may be what a lookup asks for.
type holder struct {
	id        int64
	site, url string
}

// Get looks each URL up as it is, then by its normal form.
func (s *Store) Get(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if l, err = l.Check(); err != nil {
		return nil, err
	}
	objects := make([]provider.Object, len(l.URLs))
	err = s.files.read(ctx, func(tx *session) error {
		c, err := s.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		sites, _ := c.scope(l.Scope)
		holders, err := holdersOf(ctx, tx, sites, l.URLs)
		if err != nil {
			return err
		}
		ids := make([]int64, len(l.URLs))
		var absent []string
		for i, u := range l.URLs {
			best, sites := choose(u, holders[urlKey(u)])
			if sites == 0 {
				objects[i] = provider.Object{URL: u}
				absent = append(absent, u)
				continue
			}
			objects[i] = provider.Object{URL: best.url, Site: best.site, Found: true, Ambiguous: sites > 1}
			ids[i] = best.id
		}
		if err := wantAbsent(ctx, tx, c, sites, absent); err != nil {
			return err
		}
		return fillObjects(ctx, tx, ids, objects)
	})
	if err != nil {
		return nil, failure(ctx, "get", err)
	}
	return objects, nil
}

// holdersOf returns the documents of sites that are found under the keys of
// urls.
func holdersOf(ctx context.Context, tx *session, sites []siteRow, urls []string) (map[int64][]holder, error) {
	names := make(map[int64]string, len(sites))
	for _, r := range sites {
		names[r.id] = r.name
	}
	keys := make([]int64, len(urls))
	for i, u := range urls {
		keys[i] = urlKey(u)
	}
	slices.Sort(keys)
	found := make(map[int64][]holder)
	err := tx.each(ctx, func(rows *sql.Rows) error {
		var key, site int64
		var h holder
		if err := rows.Scan(&key, &h.id, &site, &h.url); err != nil {
			return err
		}
		if name, ok := names[site]; ok {
			h.site = name
			found[key] = append(found[key], h)
		}
		return nil
	}, "SELECT d.key, d.id, d.site, d.url FROM json_each(?) AS j CROSS JOIN document AS d ON d.key = j.value", idList(slices.Compact(keys)))
	return found, err
}

// choose returns the document that a lookup of u finds, and how many sites hold
// one as good.
func choose(u string, found []holder) (best holder, sites int) {
	of := func(match func(holder) bool) []holder {
		var list []holder
		for _, h := range found {
			if match(h) {
				list = append(list, h)
			}
		}
		slices.SortFunc(list, func(a, b holder) int {
			if c := strings.Compare(a.site, b.site); c != 0 {
				return c
			}
			return strings.Compare(a.url, b.url)
		})
		return slices.CompactFunc(list, func(a, b holder) bool { return a.site == b.site })
	}
	list := of(func(h holder) bool { return h.url == u })
	if len(list) == 0 {
		normal := provider.NormalURL(u)
		list = of(func(h holder) bool { return provider.NormalURL(h.url) == normal })
	}
	if len(list) == 0 {
		return holder{}, 0
	}
	for _, host := range hostSites(u) {
		for _, h := range list {
			if h.site == host {
				return h, len(list)
			}
		}
	}
	return list[0], len(list)
}

// hostSites returns the sites that a URL belongs to by its host: HostSite, then
// the host with its "www.".
func hostSites(u string) []string {
	list := []string{provider.HostSite(u)}
	if parsed, err := url.Parse(u); err == nil {
		if host := strings.ToLower(parsed.Hostname()); host != list[0] {
			list = append(list, host)
		}
	}
	return list
}

// maxProbes bounds what wantAbsent looks for.
const maxProbes = 4000

// wantAbsent makes sure that URLs that were not found by their keys are not
// there under themselves either: two indexes know the same documents. On many
// sites only those are looked at that the URLs belong to by their host.
func wantAbsent(ctx context.Context, tx *session, c *catalogue, sites []siteRow, urls []string) error {
	type probe struct {
		Site int64  `json:"s"`
		URL  string `json:"u"`
	}
	var probes []probe
	for _, u := range urls {
		likely := sites
		if len(sites)*len(urls) > maxProbes {
			likely = nil
			for _, name := range hostSites(u) {
				if site, ok := c.site(name); ok {
					likely = append(likely, site)
				}
			}
		}
		for _, site := range likely {
			if _, inScope := slices.BinarySearchFunc(sites, site.name, func(r siteRow, name string) int { return strings.Compare(r.name, name) }); inScope {
				probes = append(probes, probe{site.id, u})
			}
		}
	}
	if len(probes) == 0 {
		return nil
	}
	list, err := json.Marshal(probes)
	if err != nil {
		return err
	}
	return tx.each(ctx, func(rows *sql.Rows) error {
		var u string
		if err := rows.Scan(&u); err != nil {
			return err
		}
		return damaged("the document %s is there, and not found by its key", u)
	}, "SELECT d.url FROM json_each(?) AS j CROSS JOIN document AS d INDEXED BY document_url ON d.site = j.value ->> 's' AND d.url = j.value ->> 'u' LIMIT 1", string(list))
}

// fillObjects reads the schemas of the rows ids, 0 for none, into objects.
func fillObjects(ctx context.Context, tx *session, ids []int64, objects []provider.Object) error {
	at := make(map[int64][]int, len(ids))
	for i, id := range ids {
		if id != 0 {
			at[id] = append(at[id], i)
		}
	}
	err := tx.each(ctx, func(rows *sql.Rows) error {
		var id, crc int64
		var url, name, types, language string
		var text sql.RawBytes
		var schema []byte
		if err := rows.Scan(&id, &url, &name, &types, &language, &crc, &text, &schema); err != nil {
			return err
		}
		if err := checkRow(crc, url, name, types, language, text, schema); err != nil {
			return err
		}
		for n, i := range at[id] {
			if n > 0 {
				schema = slices.Clone(schema)
			}
			objects[i].Schema = schema
		}
		delete(at, id)
		return nil
	}, "SELECT id, url, name, types, language, crc, text, schema FROM document WHERE id IN (SELECT value FROM json_each(?))", idList(ids))
	if err == nil && len(at) > 0 {
		err = damaged("%d documents are found by their key, and their rows are not there", len(at))
	}
	return err
}

// List returns a page of a site's documents.
func (s *Store) List(ctx context.Context, q provider.ListQuery) ([]provider.Entry, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if q, err = q.Check(); err != nil {
		return nil, err
	}
	entries := []provider.Entry{}
	err = s.files.read(ctx, func(tx *session) error {
		c, err := s.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		site, ok := c.site(q.Site)
		if !ok {
			return nil
		}
		err = tx.each(ctx, func(rows *sql.Rows) error {
			var e provider.Entry
			var hash []byte
			var version int64
			if err := rows.Scan(&e.URL, &hash, &version); err != nil {
				return err
			}
			e.Hash, e.Indexed = hex.EncodeToString(hash), version == documentVersion
			entries = append(entries, e)
			return nil
		}, "SELECT url, hash, version FROM document WHERE site = ? AND url > ? ORDER BY url LIMIT ?", site.id, q.After, q.Limit)
		if want := min(site.documents, int64(q.Limit)); err == nil && q.After == "" && int64(len(entries)) != want {
			err = damaged("site %q has %d documents, and its list begins with %d of %d", site.name, site.documents, len(entries), want)
		}
		return err
	})
	if err != nil {
		return nil, failure(ctx, "list", err)
	}
	return entries, nil
}

// idList writes numbers as the JSON list that json_each takes.
func idList(ids []int64) string {
	b := make([]byte, 0, 2+12*len(ids))
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(append(b, ']'))
}
