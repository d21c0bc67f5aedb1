package embedded

import (
	"container/list"
	"sync"
)

// indexCache keeps the indexes of sites in memory, those used last, within a
// bound of bytes.
type indexCache struct {
	mu    sync.Mutex
	limit int64
	bytes int64
	sites map[siteKey]*list.Element // of *siteIndex
	used  *list.List                // the one used last in front

	loads map[load]chan struct{} // in progress; each is closed at its end
}

// load is what is loaded once for all who ask for it meanwhile.
type load struct {
	siteKey
	generation int64
}

// siteKey tells a site from every other site of any store.
type siteKey struct {
	store storeFile
	site  int64
}

func (r siteRow) key() siteKey { return siteKey{r.store, r.id} }

func newIndexCache(limit int64) *indexCache {
	return &indexCache{limit: limit, sites: make(map[siteKey]*list.Element), used: list.New(), loads: make(map[load]chan struct{})}
}

// of returns what is kept of each of sites, of whatever generation; nil for
// nothing.
func (c *indexCache) of(sites []siteRow) []*siteIndex {
	found := make([]*siteIndex, len(sites))
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range sites {
		if e, ok := c.sites[sites[i].key()]; ok {
			c.used.MoveToFront(e)
			found[i] = e.Value.(*siteIndex)
		}
	}
	return found
}

// get returns what is kept of a site, of whatever generation; nil if nothing.
func (c *indexCache) get(site siteRow) *siteIndex { return c.of([]siteRow{site})[0] }

// room returns how many bytes can be put without any being dropped.
func (c *indexCache) room() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit - c.bytes
}

// put keeps x unless it has a newer one of the site.
func (c *indexCache) put(x *siteIndex) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.sites[x.site.key()]; ok {
		if e.Value.(*siteIndex).site.generation >= x.site.generation {
			return
		}
		c.remove(e)
	}
	c.sites[x.site.key()] = c.used.PushFront(x)
	c.bytes += x.bytes
	for c.bytes > c.limit && c.used.Len() > 0 {
		c.remove(c.used.Back())
	}
}

// begin reports whether the caller is to load the index of a site, and to call end
// when it has, or could not. Otherwise somebody else is loading it until done.
func (c *indexCache) begin(site siteRow) (own bool, done <-chan struct{}) {
	key := load{site.key(), site.generation}
	c.mu.Lock()
	defer c.mu.Unlock()
	if done, ok := c.loads[key]; ok {
		return false, done
	}
	c.loads[key] = make(chan struct{})
	return true, nil
}

func (c *indexCache) end(site siteRow) {
	key := load{site.key(), site.generation}
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.loads[key])
	delete(c.loads, key)
}

func (c *indexCache) remove(e *list.Element) {
	x := c.used.Remove(e).(*siteIndex)
	delete(c.sites, x.site.key())
	c.bytes -= x.bytes
}
