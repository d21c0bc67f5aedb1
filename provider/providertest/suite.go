package providertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

// Opt says in what a backend is known to differ from the contract.
type Opt struct {
	// Known gives, by a rule's name such as "Filter/DatesAreInstants", the
	// reason why this backend does not keep it. The rule is skipped with
	// that reason; a name that is no rule is an error.
	Known map[string]string
	// Settle waits until everything that was put is found by searches.
	// Needed only by backends that answer Pending.
	Settle func(context.Context, provider.Provider) error
}

// rule is one subtest of the suite: a rule of the contract.
type rule struct {
	name  string
	check func(*suite)
}

// topics are the rows of the contract, in its order.
var topics = []struct {
	name  string
	rules []rule
}{
	{"Identity", identityRules},
	{"Scope", scopeRules},
	{"Site", siteRules},
	{"Order", orderRules},
	{"Limit", limitRules},
	{"Blank", blankRules},
	{"Get", getRules},
	{"Schema", schemaRules},
	{"Document", documentRules},
	{"Filter", filterRules},
	{"Answer", answerRules},
	{"Put", putRules},
	{"Delete", deleteRules},
	{"List", listRules},
	{"Bounds", boundRules},
	{"Concurrency", concurrencyRules},
	{"Info", infoRules},
	{"Close", closeRules},
}

// Rules returns the names of all rules, in order.
func Rules() []string {
	var names []string
	for _, topic := range topics {
		for _, r := range topic.rules {
			names = append(names, topic.name+"/"+r.name)
		}
	}
	return names
}

// Run checks every rule of the contract against providers that open returns.
// Each call of open has to give an empty provider; the suite closes it.
func Run(t T, open func(T) provider.Provider, opt Opt) {
	names := Rules()
	for name := range opt.Known {
		if !slices.Contains(names, name) {
			t.Errorf("Opt.Known: there is no rule %q", name)
		}
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t T) {
			for _, r := range topic.rules {
				t.Run(r.name, func(t T) {
					if why, ok := opt.Known[topic.name+"/"+r.name]; ok {
						t.Skipf("known exception of this backend: %s", why)
					}
					p := open(t)
					t.Cleanup(func() {
						if err := p.Close(); err != nil {
							t.Errorf("Close: %v", err)
						}
					})
					r.check(&suite{T: t, p: p, opt: opt})
				})
			}
		})
	}
}

// suite is what a rule works with: an empty provider, and calls that fail the
// test when the contract's invariants do not hold.
type suite struct {
	T
	p   provider.Provider
	opt Opt
}

// patience is how long a call may take before the suite calls it hung.
const patience = 60 * time.Second

func (s *suite) ctx() context.Context {
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	s.Cleanup(cancel)
	return ctx
}

// doc makes a document whose object has a name and a description.
func doc(site, url, name, text string) provider.Document {
	return object(site, url, map[string]any{"@type": "Article", "name": name, "description": text})
}

// object makes a document of properties, with the URL and @context added.
func object(site, url string, properties map[string]any) provider.Document {
	all := map[string]any{"@context": "https://schema.org", "url": url}
	for k, v := range properties {
		all[k] = v
	}
	schema, err := json.Marshal(all)
	if err != nil {
		panic("providertest: a fixture is no JSON: " + err.Error())
	}
	return provider.Document{URL: url, Site: site, Schema: schema}
}

// put stores docs, wants all of them kept, and waits until they are found.
func (s *suite) put(docs ...provider.Document) {
	s.Helper()
	for _, r := range s.tryPut(docs...) {
		if r.Outcome != provider.Stored && r.Outcome != provider.Pending {
			s.Fatalf("Put(%s %s) = %s (%v), want it stored", r.Site, r.URL, r.Outcome, r.Err)
		}
	}
}

// tryPut stores docs and checks the shape of the answer.
func (s *suite) tryPut(docs ...provider.Document) []provider.PutResult {
	s.Helper()
	results, err := s.p.Put(s.ctx(), docs)
	if err != nil {
		s.Fatalf("Put of %d documents: %v", len(docs), err)
	}
	if len(results) != len(docs) {
		s.Fatalf("Put of %d documents gave %d results", len(docs), len(results))
	}
	for i, r := range results {
		if r.URL != docs[i].URL {
			s.Errorf("result %d is about the URL %q, want %q: results come in the order of the documents", i, r.URL, docs[i].URL)
		}
		if bad := r.Outcome == provider.Failed || r.Outcome == provider.Unknown; bad != (r.Err != nil) {
			s.Errorf("result %d: outcome %q with error %v; the error goes with failed and unknown only", i, r.Outcome, r.Err)
		}
	}
	if s.opt.Settle != nil {
		if err := s.opt.Settle(s.ctx(), s.p); err != nil {
			s.Fatalf("waiting for what was put: %v", err)
		}
	}
	return results
}

// search runs q, which has to succeed, and checks what holds of any answer.
func (s *suite) search(q provider.Query) *provider.Result {
	s.Helper()
	res, err := s.p.Search(s.ctx(), q)
	if err != nil {
		s.Fatalf("Search(%.40q): %v", q.Text, err)
	}
	if res == nil {
		s.Fatalf("Search(%.40q) gave neither a result nor an error", q.Text)
	}
	s.checkResult(q, res)
	return res
}

func (s *suite) checkResult(q provider.Query, res *provider.Result) {
	s.Helper()
	limit := q.Limit
	if limit == 0 {
		limit = provider.DefaultLimit
	}
	if len(res.Hits) > limit {
		s.Errorf("%d hits, more than the limit %d", len(res.Hits), limit)
	}
	scope, _ := q.Scope.Check("scope")
	seen := make(map[[2]string]bool)
	for i, h := range res.Hits {
		id := [2]string{h.Site, h.URL}
		if seen[id] {
			s.Errorf("hit %d: %s of site %s is there twice", i, h.URL, h.Site)
		}
		seen[id] = true
		if !scope.All() && !slices.Contains(scope.Sites(), h.Site) {
			s.Errorf("hit %d is of site %q, outside the scope %q", i, h.Site, scope.Sites())
		}
		if len(h.Passage) > provider.MaxPassageBytes || !utf8.ValidString(h.Passage) {
			s.Errorf("hit %d: a passage of %d bytes, want at most %d of valid UTF-8", i, len(h.Passage), provider.MaxPassageBytes)
		}
	}
	if has := res.ScoreKind != ""; has != (len(res.Hits) > 0) {
		s.Errorf("ScoreKind is %q with %d hits", res.ScoreKind, len(res.Hits))
	}
	degraded := false
	for _, st := range res.Statuses {
		degraded = degraded || st.Kind != provider.StatusNotice
		if st.Code == "" {
			s.Errorf("a status without a code: %+v", st)
		}
	}
	if res.Degraded != degraded {
		s.Errorf("Degraded is %v with statuses %+v", res.Degraded, res.Statuses)
	}
}

// urls runs a search and returns the URLs of its hits in order.
func (s *suite) urls(q provider.Query) []string {
	s.Helper()
	var urls []string
	for _, h := range s.search(q).Hits {
		urls = append(urls, h.URL)
	}
	return urls
}

// wantURLs runs a search and wants these hits, in any order.
func (s *suite) wantURLs(q provider.Query, want ...string) {
	s.Helper()
	got := s.urls(q)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.Errorf("Search(%.60q in %s) found %q, want %q", q.Text, scopeName(q.Scope), got, want)
	}
}

func scopeName(sc provider.Scope) string {
	if sc.All() {
		return "all sites"
	}
	b, _ := json.Marshal(sc.Sites())
	return string(b[:min(len(b), 200)])
}

// get looks one URL up.
func (s *suite) get(scope provider.Scope, url string) provider.Object {
	s.Helper()
	objects, err := s.p.Get(s.ctx(), provider.Lookup{URLs: []string{url}, Scope: scope})
	if err != nil {
		s.Fatalf("Get(%.80q): %v", url, err)
	}
	if len(objects) != 1 {
		s.Fatalf("Get of one URL gave %d objects", len(objects))
	}
	return objects[0]
}

// wantObject wants the schema of d under its own URL and site.
func (s *suite) wantObject(d provider.Document) {
	s.Helper()
	o := s.get(provider.InSites(d.Site), d.URL)
	if !o.Found {
		s.Errorf("Get(%.80q) in site %.80q found nothing", d.URL, d.Site)
		return
	}
	if !bytes.Equal(o.Schema, d.Schema) {
		s.Errorf("Get(%.80q) gave the object\n%.300s\nwant\n%.300s", d.URL, o.Schema, d.Schema)
	}
}

// wantInvalid wants err to be ErrInvalid and to name arg.
func (s *suite) wantInvalid(what string, err error, arg string) {
	s.Helper()
	if !errors.Is(err, provider.ErrInvalid) {
		s.Errorf("%s: error %v, want one that matches ErrInvalid", what, err)
		return
	}
	var e *provider.Error
	if !errors.As(err, &e) {
		s.Errorf("%s: %v is no *provider.Error", what, err)
		return
	}
	if !bytes.Contains([]byte(e.Arg), []byte(arg)) {
		s.Errorf("%s: the error %q names the argument %q, want %q", what, err, e.Arg, arg)
	}
}

// sites returns the document count of every site.
func (s *suite) sites() map[string]int64 {
	s.Helper()
	list, err := s.p.Sites(s.ctx())
	if err != nil {
		s.Fatalf("Sites: %v", err)
	}
	out := make(map[string]int64, len(list))
	last := ""
	for i, site := range list {
		if i > 0 && site.Site <= last {
			s.Errorf("Sites: %q after %q, want them sorted and once each", site.Site, last)
		}
		last = site.Site
		out[site.Site] = site.Documents
	}
	return out
}

// wantSites wants exactly these sites with these counts.
func (s *suite) wantSites(want map[string]int64) {
	s.Helper()
	got := s.sites()
	if len(got) != len(want) {
		s.Errorf("Sites gave %v, want %v", got, want)
		return
	}
	for name, n := range want {
		if got[name] != n {
			s.Errorf("Sites counts %d documents of site %.60q, want %d", got[name], name, n)
		}
	}
}

// delete removes what sel names and wants n documents gone.
func (s *suite) delete(sel provider.Selector, n int) {
	s.Helper()
	got, err := s.p.Delete(s.ctx(), sel)
	if err != nil {
		s.Fatalf("Delete(%+v): %v", sel, err)
	}
	if got != n {
		s.Errorf("Delete(%+v) = %d, want %d", sel, got, n)
	}
}
