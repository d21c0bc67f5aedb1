package providertest_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// A suite that cannot fail proves nothing, so each rule here meets a provider
// that breaks it.
func TestWrongProvidersAreCaught(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rule   string // has to fail
		broken func(*wrong)
	}{
		{"ignores the scope", "Scope/OneSiteIsAStrictFilter", func(w *wrong) {
			w.query = func(q *provider.Query) { q.Scope = provider.AllSites() }
		}},
		{"takes no scope for all", "Scope/ZeroScopeIsInvalid", func(w *wrong) {
			w.query = func(q *provider.Query) {
				if !q.Scope.All() && len(q.Scope.Sites()) == 0 {
					q.Scope = provider.AllSites()
				}
			}
		}},
		{"takes the word all for all", "Scope/TheWordAllInAListIsNoWildcard", func(w *wrong) {
			w.query = func(q *provider.Query) {
				if slices.ContainsFunc(q.Scope.Sites(), provider.MeansAllSites) {
					q.Scope = provider.AllSites()
				}
			}
		}},
		{"searches only the first site of a list", "Scope/ListIsAStrictOr", func(w *wrong) {
			w.query = func(q *provider.Query) {
				if s := q.Scope.Sites(); len(s) > 1 {
					q.Scope = provider.InSites(s[0])
				}
			}
		}},
		{"folds the case of sites", "Site/HostileNamesMatchExactlyThemselves", func(w *wrong) {
			w.document = func(d *provider.Document) { d.Site = strings.ToLower(d.Site) }
		}},
		{"ignores the filter", "Filter/LessIsStrict", func(w *wrong) { w.query = func(q *provider.Query) { q.Filter = nil } }},
		{"filters what it found", "Filter/LimitIsFilledBehindTheFilter", func(w *wrong) {
			w.query = func(q *provider.Query) {
				if q.Limit == 3 {
					q.Limit = 2
				}
			}
		}},
		{"reverses the order", "Order/BestFirst", func(w *wrong) { w.result = func(r *provider.Result) { slices.Reverse(r.Hits) } }},
		{"returns a hit twice", "Scope/OneSiteIsAStrictFilter", func(w *wrong) {
			w.result = func(r *provider.Result) {
				if len(r.Hits) == 1 {
					r.Hits = append(r.Hits, r.Hits[0])
				}
			}
		}},
		{"returns more than the limit", "Limit/LimitIsFilledAfterTheCollapse", func(w *wrong) {
			w.query = func(q *provider.Query) { q.Limit++ }
		}},
		{"returns less than the limit", "Limit/LimitIsFilledAfterTheCollapse", func(w *wrong) {
			w.result = func(r *provider.Result) {
				if len(r.Hits) > 10 {
					r.Hits = r.Hits[:10]
				}
			}
		}},
		{"says degraded without a problem", "Scope/OneSiteIsAStrictFilter", func(w *wrong) { w.result = func(r *provider.Result) { r.Degraded = true } }},
		{"hides the score kind", "Scope/OneSiteIsAStrictFilter", func(w *wrong) { w.result = func(r *provider.Result) { r.ScoreKind = "" } }},
		{"invents an answer", "Answer/NoAnswerWithoutALanguageModel", func(w *wrong) {
			w.result = func(r *provider.Result) { r.Answer = &provider.Answer{} }
		}},
		{"encodes the schema of hits again", "Schema/BytesOfSearchAreThoseIngested", func(w *wrong) {
			w.result = func(r *provider.Result) {
				for i := range r.Hits {
					r.Hits[i].Schema = []byte(strings.ReplaceAll(string(r.Hits[i].Schema), `\/`, "/"))
				}
			}
		}},
		{"encodes the schema of objects again", "Schema/BytesOfGetAreThoseIngested", func(w *wrong) {
			w.objects = func(os []provider.Object) {
				for i := range os {
					os[i].Schema = []byte(strings.TrimSpace(string(os[i].Schema)))
				}
			}
		}},
		{"replies without bound", "Schema/HitsPastTheReplyLimitComeWithoutTheirObject", func(w *wrong) {
			w.result = func(r *provider.Result) {
				r.Statuses, r.Degraded = nil, false
				for i := range r.Hits {
					r.Hits[i].Schema = make([]byte, provider.MaxObjectBytes)
				}
			}
		}},
		{"returns objects out of order", "Get/OneObjectPerURLInOrder", func(w *wrong) { w.objects = func(os []provider.Object) { slices.Reverse(os) } }},
		{"hides ambiguity", "Get/TheSiteOfTheHostWins", func(w *wrong) {
			w.objects = func(os []provider.Object) {
				for i := range os {
					os[i].Ambiguous = false
				}
			}
		}},
		{"drops the trailing slash", "Identity/URLsAreComparedExactly", func(w *wrong) {
			w.document = func(d *provider.Document) { d.URL = strings.TrimSuffix(d.URL, "/") }
		}},
		{"stores what is unchanged", "Put/TheSameAgainIsUnchanged", func(w *wrong) {
			w.outcomes = func(rs []provider.PutResult) {
				for i := range rs {
					if rs[i].Outcome == provider.Unchanged {
						rs[i].Outcome = provider.Stored
					}
				}
			}
		}},
		{"swallows failures", "Put/ABadDocumentFailsAlone", func(w *wrong) {
			w.outcomes = func(rs []provider.PutResult) {
				for i := range rs {
					rs[i].Outcome, rs[i].Err = provider.Stored, nil
				}
			}
		}},
		{"loses the kind of an error", "Scope/EmptyListIsInvalid", func(w *wrong) { w.err = func(err error) error { return errors.New(err.Error()) } }},
		{"loses the argument of an error", "Scope/EmptyListIsInvalid", func(w *wrong) {
			w.err = func(err error) error { return provider.Errorf(provider.ErrInvalid, "%v", err) }
		}},
		{"takes an empty list of URLs for the site", "Delete/AnUnclearSelectorIsInvalid", func(w *wrong) {
			w.selector = func(s *provider.Selector) { s.WholeSite = s.WholeSite || len(s.URLs) == 0 }
		}},
		{"miscounts what it deleted", "Delete/ByURL", func(w *wrong) { w.deleted = func(n int) int { return n + 1 } }},
		{"lists short pages in disorder", "List/PagesAreSortedAndComplete", func(w *wrong) { w.entries = func(es []provider.Entry) { slices.Reverse(es) } }},
		{"lists another hash", "List/HashIsThatOfTheDocument", func(w *wrong) {
			w.entries = func(es []provider.Entry) {
				for i := range es {
					es[i].Hash = "0"
				}
			}
		}},
		{"ignores its context", "Concurrency/ADoneContextEndsEveryCall", func(w *wrong) { w.ctx = context.WithoutCancel }},
		{"works on after Close", "Close/CallsAfterwardsAreUnavailable", func(w *wrong) { w.unclosable = true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			others := make(map[string]string)
			for _, name := range providertest.Rules() {
				if name != tt.rule {
					others[name] = "not the rule in question"
				}
			}
			rec := &recorder{name: "suite"}
			rec.run(func(r providertest.T) {
				providertest.Run(r, func(providertest.T) provider.Provider {
					w := &wrong{Provider: providertest.NewMemory()}
					tt.broken(w)
					return w
				}, providertest.Opt{Known: others})
			})
			if !slices.Contains(rec.failed, "suite/"+tt.rule) {
				t.Errorf("%s passed; failed were %q", tt.rule, rec.failed)
			}
		})
	}
}

func TestKnownExceptionsAreSkippedByName(t *testing.T) {
	rec := &recorder{name: "suite"}
	open := func(providertest.T) provider.Provider {
		return &wrong{Provider: providertest.NewMemory(), deleted: func(n int) int { return n + 1 }}
	}
	known := make(map[string]string)
	for _, name := range providertest.Rules() {
		if strings.HasPrefix(name, "Delete/") || strings.HasPrefix(name, "Identity/") || strings.HasPrefix(name, "Site/") {
			known[name] = "counts from one"
		}
	}
	known["No/SuchRule"] = "a typing error"
	rec.run(func(r providertest.T) { providertest.Run(r, open, providertest.Opt{Known: known}) })
	for _, name := range rec.failed {
		if strings.HasPrefix(name, "suite/Delete/") {
			t.Errorf("%s ran although it is a known exception", name)
		}
	}
	if !slices.Contains(rec.failed, "suite") {
		t.Error("a known exception that names no rule was accepted")
	}
}

// wrong changes what goes into a provider or comes out of it.
type wrong struct {
	provider.Provider
	ctx        func(context.Context) context.Context
	query      func(*provider.Query)
	result     func(*provider.Result)
	objects    func([]provider.Object)
	entries    func([]provider.Entry)
	document   func(*provider.Document)
	outcomes   func([]provider.PutResult)
	selector   func(*provider.Selector)
	deleted    func(int) int
	err        func(error) error
	unclosable bool
}

func (w *wrong) in(ctx context.Context) context.Context {
	if w.ctx != nil {
		return w.ctx(ctx)
	}
	return ctx
}

func (w *wrong) out(err error) error {
	if err != nil && w.err != nil {
		return w.err(err)
	}
	return err
}

func (w *wrong) Search(ctx context.Context, q provider.Query) (*provider.Result, error) {
	if w.query != nil {
		w.query(&q)
	}
	res, err := w.Provider.Search(w.in(ctx), q)
	if err == nil && w.result != nil {
		w.result(res)
	}
	return res, w.out(err)
}

func (w *wrong) Get(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
	objects, err := w.Provider.Get(w.in(ctx), l)
	if w.objects != nil {
		w.objects(objects)
	}
	return objects, w.out(err)
}

func (w *wrong) List(ctx context.Context, q provider.ListQuery) ([]provider.Entry, error) {
	entries, err := w.Provider.List(w.in(ctx), q)
	if w.entries != nil {
		w.entries(entries)
	}
	return entries, w.out(err)
}

func (w *wrong) Put(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
	if w.document != nil {
		docs = slices.Clone(docs)
		for i := range docs {
			w.document(&docs[i])
		}
	}
	results, err := w.Provider.Put(w.in(ctx), docs)
	if w.outcomes != nil {
		w.outcomes(results)
	}
	return results, w.out(err)
}

func (w *wrong) Delete(ctx context.Context, sel provider.Selector) (int, error) {
	if w.selector != nil {
		w.selector(&sel)
	}
	n, err := w.Provider.Delete(w.in(ctx), sel)
	if w.deleted != nil && err == nil {
		n = w.deleted(n)
	}
	return n, w.out(err)
}

func (w *wrong) Close() error {
	if w.unclosable {
		return nil
	}
	return w.Provider.Close()
}

// recorder is a T that remembers which subtests failed.
type recorder struct {
	name     string
	parent   *recorder
	mu       sync.Mutex
	failed   []string
	cleanups []func()
}

func (r *recorder) run(f func(providertest.T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, c := range slices.Backward(r.cleanups) {
				c()
			}
		}()
		f(r)
	}()
	<-done
}

func (r *recorder) fail(name string) {
	for p := r; p != nil; p = p.parent {
		p.mu.Lock()
		p.failed = append(p.failed, name)
		p.mu.Unlock()
	}
}

func (r *recorder) Helper()                  {}
func (r *recorder) Name() string             { return r.name }
func (r *recorder) Context() context.Context { return context.Background() }
func (r *recorder) Logf(string, ...any)      {}
func (r *recorder) Errorf(string, ...any)    { r.fail(r.name) }
func (r *recorder) Fatalf(string, ...any)    { r.fail(r.name); runtime.Goexit() }
func (r *recorder) Skipf(string, ...any)     { runtime.Goexit() }
func (r *recorder) Cleanup(f func())         { r.mu.Lock(); r.cleanups = append(r.cleanups, f); r.mu.Unlock() }
func (r *recorder) Run(name string, f func(providertest.T)) bool {
	sub := &recorder{name: r.name + "/" + name, parent: r}
	sub.run(f)
	return len(sub.failed) == 0
}
