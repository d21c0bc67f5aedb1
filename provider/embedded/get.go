package embedded

import (
	"context"
	"database/sql"
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
	var objects []provider.Object
	err = s.mending(ctx, func() error {
		return s.files.read(ctx, func(tx *session) error {
			objects, err = s.get(ctx, tx, l)
			return err
		})
	})
	if err != nil {
		return nil, failure(ctx, "get", err)
	}
	return objects, nil
}

func (s *Store) get(ctx context.Context, tx *session, l provider.Lookup) ([]provider.Object, error) {
	c, err := s.sites.load(ctx, tx)
	if err != nil {
		return nil, err
	}
	sites, _ := c.scope(l.Scope)
	holders, err := holdersOf(ctx, tx, sites, l.URLs)
	if err != nil {
		return nil, err
	}
	if err := wantAll(ctx, tx, sites, l.URLs, holders); err != nil {
		return nil, err
	}
	objects := make([]provider.Object, len(l.URLs))
	ids := make([]int64, len(l.URLs))
	for i, u := range l.URLs {
		best, sites := choose(u, holders[urlKey(u)])
		if sites == 0 {
			objects[i] = provider.Object{URL: u}
			continue
		}
		objects[i] = provider.Object{URL: best.url, Site: best.site, Found: true, Ambiguous: sites > 1}
		ids[i] = best.id
	}
	return objects, fillObjects(ctx, tx, ids, objects)
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
		var key, site, version, crc int64
		var h holder
		var hash sql.RawBytes
		if err := rows.Scan(&key, &h.id, &site, &h.url, &version, &crc, &hash); err != nil {
			return err
		}
		if err := checkHead(crc, site, h.url, key, version, hash); err != nil {
			return err
		}
		if name, ok := names[site]; ok {
			h.site = name
			found[key] = append(found[key], h)
		}
		return nil
	}, "SELECT d.key, d.id, d.site, d.url, d.version, d.crc, d.hash FROM json_each(?) AS j CROSS JOIN document AS d ON d.key = j.value", idList(slices.Compact(keys)))
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

// maxProbes bounds what wantAll looks for on all sites of a scope.
const maxProbes = 1000

// probe is a document that may be there.
type probe struct {
	Site int64  `json:"s"`
	URL  string `json:"u"`
}

// wantAll makes sure that the documents with these URLs that are there under
// their site and URL were found under their keys as well: two indexes know the
// same documents, and a damaged one is not to hide any. Of many sites it looks
// only at those that the URLs belong to by their host.
func wantAll(ctx context.Context, tx *session, sites []siteRow, urls []string, found map[int64][]holder) error {
	known := make(map[string]bool)
	for _, list := range found {
		for _, h := range list {
			known[h.site+"\x00"+h.url] = true
		}
	}
	var probes []probe
	for _, u := range urls {
		likely := sites
		if len(sites)*len(urls) > maxProbes {
			likely = nil
			for _, name := range hostSites(u) {
				if i, ok := slices.BinarySearchFunc(sites, name, func(r siteRow, name string) int { return strings.Compare(r.name, name) }); ok {
					likely = append(likely, sites[i])
				}
			}
		}
		normal := provider.NormalURL(u)
		for _, site := range likely {
			if !known[site.name+"\x00"+u] {
				probes = append(probes, probe{site.id, u})
			}
			if normal != u && !known[site.name+"\x00"+normal] {
				probes = append(probes, probe{site.id, normal})
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
		var text, packed sql.RawBytes
		if err := rows.Scan(&id, &url, &name, &types, &language, &crc, &text, &packed); err != nil {
			return err
		}
		if err := checkRow(crc, url, name, types, language, text, packed); err != nil {
			return err
		}
		schema, err := unpackObject(nil, packed)
		if err != nil {
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
