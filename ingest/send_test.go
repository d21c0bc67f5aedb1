package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// lines is JSON Lines of thing(1) to thing(n).
func lines(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		b.WriteString(thing(i) + "\n")
	}
	return b.String()
}

// runWith ingests thing(1) to thing(n) with a Put that has its say first; where
// it returns nil twice, m decides.
func runWith(t *testing.T, n int, put func(call int, docs []provider.Document) ([]provider.PutResult, error)) (*providertest.Memory, *Report, error) {
	t.Helper()
	m := providertest.NewMemory()
	call := 0
	store := putFunc{m, func(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
		call++
		if r, err := put(call, docs); r != nil || err != nil {
			return r, err
		}
		return m.Put(ctx, docs)
	}}
	r, err := Run(t.Context(), Options{Store: store, Sources: []string{"-"}, Stdin: strings.NewReader(lines(n))})
	require.NotNil(t, r)
	checkReport(t, r)
	return m, r, err
}

func TestBatchesKeepToTheLimitOfDocuments(t *testing.T) {
	var sizes []int
	_, r, err := runWith(t, 2*provider.MaxBatchDocuments+1, func(_ int, docs []provider.Document) ([]provider.PutResult, error) {
		sizes = append(sizes, len(docs))
		return nil, nil
	})
	require.NoError(t, err)
	require.Equal(t, []int{provider.MaxBatchDocuments, provider.MaxBatchDocuments, 1}, sizes)
	require.Equal(t, 2*provider.MaxBatchDocuments+1, r.Stored)
}

func TestBatchesKeepToTheLimitOfBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("reads documents of 12 MB in all")
	}
	var b strings.Builder
	for i := range 4 {
		fmt.Fprintf(&b, `{"@type":"Thing","url":"https://a.example/%d","name":"n","x":"%s"}`+"\n", i, strings.Repeat("x", 3<<20))
	}
	batches := 0
	r, err := Run(t.Context(), Options{Sources: []string{"-"}, Stdin: strings.NewReader(b.String()),
		Store: putFunc{forgetful{}, func(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
			batches++
			require.NoError(t, provider.CheckBatch(docs))
			return forgetful{}.Put(ctx, docs)
		}}})
	require.NoError(t, err)
	require.Equal(t, 4, r.Stored)
	require.Equal(t, 2, batches, "of three documents and of one")
}

func TestEveryOutcomeIsCounted(t *testing.T) {
	refused := provider.Invalidf("x", "is refused")
	outcomes := []provider.PutResult{
		{Outcome: provider.Stored}, {Outcome: provider.Unchanged}, {Outcome: provider.Pending}, {Outcome: provider.Pending},
		{Outcome: provider.Superseded}, {Outcome: provider.Failed, Err: refused}, {Outcome: provider.Failed}, {Outcome: "invented"},
		// and none for the ninth
	}
	_, r, err := runWith(t, 9, func(int, []provider.Document) ([]provider.PutResult, error) { return outcomes, nil })
	require.NoError(t, err)
	require.Equal(t, [6]int{9, 1, 1, 2, 1, 4}, [6]int{r.Read, r.Stored, r.Unchanged, r.Pending, r.Superseded, r.Failed})
	require.Equal(t, Place{Source: "-", Line: 6, URL: "https://a.example/6"}, r.Failures[0].Place)
	require.ErrorIs(t, r.Failures[0].Err, refused)
	require.ErrorIs(t, r.Failures[1].Err, provider.ErrInternal)
	require.ErrorContains(t, r.Failures[2].Err, `"invented"`)
	require.Equal(t, 9, r.Failures[3].Line)
}

func TestABatchIsTriedAgainWhileTheStoreIsNotAvailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		m, r, err := runWith(t, 5, func(call int, _ []provider.Document) ([]provider.PutResult, error) {
			if call <= 3 {
				return nil, provider.Errorf(provider.ErrUnavailable, "not now")
			}
			return nil, nil
		})
		require.NoError(t, err)
		require.Equal(t, 5, r.Stored)
		require.Len(t, stored(t, m), 5)
		require.Equal(t, 7*firstPause, time.Since(start), "pauses of 1, 2 and 4")
	})
}

func TestAStoreThatIsGoneEndsTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		calls int
	}{
		"not available":     {provider.ErrUnavailable, attempts},
		"damaged":           {provider.ErrCorrupt, 1},
		"not authenticated": {provider.ErrUnauthenticated, 1},
		"not permitted":     {provider.ErrPermission, 1},
		"cannot write":      {provider.ErrUnsupported, 1},
	} {
		for _, each := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, said of each document: %v", name, each), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cause := provider.Errorf(c.err, "database or disk is full")
					calls := 0
					_, r, err := runWith(t, 1200, func(call int, docs []provider.Document) ([]provider.PutResult, error) {
						if call == 1 {
							return nil, nil
						}
						calls++
						if !each {
							return nil, cause
						}
						out := make([]provider.PutResult, len(docs))
						for i := range out {
							out[i] = provider.PutResult{Outcome: provider.Failed, Err: cause}
						}
						return out, nil
					})
					require.ErrorIs(t, err, c.err)
					require.ErrorContains(t, err, "database or disk is full")
					require.Equal(t, c.calls, calls)
					require.Equal(t, 1000, r.Stored, "what was acknowledged")
					require.Equal(t, 200, r.Failed, "the batch that was not")
					require.Equal(t, 1200, r.Read)
					require.ErrorIs(t, r.Failures[0].Err, c.err)
				})
			})
		}
	}
}

func TestADocumentWithoutAnswerIsPutAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		lost := provider.Errorf(provider.ErrUnavailable, "the connection broke")
		_, r, err := runWith(t, 4, func(call int, docs []provider.Document) ([]provider.PutResult, error) {
			sizes = append(sizes, len(docs))
			out := make([]provider.PutResult, len(docs))
			for i, d := range docs {
				out[i] = provider.PutResult{Outcome: provider.Stored}
				switch {
				case d.URL == "https://a.example/2" && call < 3:
					out[i] = provider.PutResult{Outcome: provider.Unknown, Err: lost}
				case d.URL == "https://a.example/3":
					out[i] = provider.PutResult{Outcome: provider.Unknown, Err: lost}
				}
			}
			return out, nil
		})
		require.NoError(t, err, "one document does not end a run")
		require.Equal(t, []int{4, 2, 2, 1, 1, 1}, sizes)
		require.Equal(t, 3, r.Stored)
		require.Equal(t, 1, r.Failed)
		require.Equal(t, "https://a.example/3", r.Failures[0].URL)
		require.ErrorIs(t, r.Failures[0].Err, lost)
	})
}

func TestARefusedBatchIsCutDownToItsCulprits(t *testing.T) {
	for _, kind := range []error{provider.ErrInvalid, provider.ErrConflict, provider.ErrInternal, errors.New("of no kind")} {
		culprits := map[string]bool{"https://a.example/1": true, "https://a.example/500": true, "https://a.example/1000": true}
		calls := 0
		m, r, err := runWith(t, 1000, func(_ int, docs []provider.Document) ([]provider.PutResult, error) {
			calls++
			for _, d := range docs {
				if culprits[d.URL] {
					return nil, fmt.Errorf("batch: %w", kind)
				}
			}
			return nil, nil
		})
		require.NoError(t, err, "%v", kind)
		require.Equal(t, 997, r.Stored)
		require.Len(t, stored(t, m), 997)
		require.Equal(t, 3, r.Failed)
		for _, f := range r.Failures {
			require.True(t, culprits[f.URL], f.URL)
			require.ErrorIs(t, f.Err, kind)
		}
		require.Less(t, calls, 80)
	}
}

func TestAStoreThatOnlyFailsIsNotAskedForever(t *testing.T) {
	calls := 0
	_, r, err := runWith(t, 2500, func(int, []provider.Document) ([]provider.PutResult, error) {
		calls++
		return nil, provider.Errorf(provider.ErrInternal, "a defect")
	})
	require.ErrorIs(t, err, provider.ErrInternal)
	require.Less(t, calls, 3*maxDefects)
	require.Equal(t, 1000, r.Failed, "of the one batch that was sent")
}

func TestAStoreThatIsGoneIsToldFromARefusedDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r, err := runWith(t, 3, func(_ int, docs []provider.Document) ([]provider.PutResult, error) {
			out := make([]provider.PutResult, len(docs))
			for i, d := range docs {
				out[i] = provider.PutResult{Outcome: provider.Failed, Err: provider.Errorf(provider.ErrUnavailable, "gone")}
				if d.URL == "https://a.example/1" {
					out[i].Err = provider.Invalidf("x", "is refused")
				}
			}
			return out, nil
		})
		require.ErrorIs(t, err, provider.ErrUnavailable, "nothing of the batch is in the store")
		require.Equal(t, 3, r.Failed)
	})
}

func TestEachFailureIsTheDocumentsOwn(t *testing.T) {
	denied := provider.Errorf(provider.ErrPermission, "this site is not yours")
	_, r, err := runWith(t, 10, func(_ int, docs []provider.Document) ([]provider.PutResult, error) {
		out := make([]provider.PutResult, len(docs))
		for i := range out {
			out[i] = provider.PutResult{Outcome: provider.Stored}
			if i%3 == 0 {
				out[i] = provider.PutResult{Outcome: provider.Failed, Err: denied}
			}
		}
		return out, nil
	})
	require.NoError(t, err, "others are stored, so the store can go on")
	require.Equal(t, 4, r.Failed)
	require.Equal(t, 6, r.Stored)
}

// listFunc is a store with another List.
type listFunc struct {
	Store
	list func(context.Context, provider.ListQuery) ([]provider.Entry, error)
}

func (l listFunc) List(ctx context.Context, q provider.ListQuery) ([]provider.Entry, error) {
	return l.list(ctx, q)
}

func TestAStoreThatCannotListIsSentEverything(t *testing.T) {
	m := providertest.NewMemory()
	store := listFunc{m, func(context.Context, provider.ListQuery) ([]provider.Entry, error) {
		return nil, provider.Errorf(provider.ErrUnsupported, "no list here")
	}}
	for _, want := range []Report{{Stored: 3}, {Unchanged: 3}} {
		r := mustRun(t, Options{Store: store, Sources: []string{"-"}, Stdin: strings.NewReader(lines(3))})
		require.Equal(t, [2]int{want.Stored, want.Unchanged}, [2]int{r.Stored, r.Unchanged})
	}
}

func TestAListThatFailsEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		r, err := Run(t.Context(), Options{Sources: []string{"-"}, Stdin: strings.NewReader(lines(3)),
			Store: listFunc{forgetful{}, func(context.Context, provider.ListQuery) ([]provider.Entry, error) {
				calls++
				return nil, provider.Errorf(provider.ErrUnavailable, "gone")
			}}})
		require.ErrorIs(t, err, provider.ErrUnavailable)
		require.Equal(t, attempts, calls)
		require.Zero(t, r.Read)
	})
	r, err := Run(t.Context(), Options{Sources: []string{"-"}, Stdin: strings.NewReader(lines(3)),
		Store: listFunc{forgetful{}, func(_ context.Context, q provider.ListQuery) ([]provider.Entry, error) {
			return make([]provider.Entry, q.Limit), nil // the same page forever
		}}})
	require.ErrorIs(t, err, provider.ErrInternal)
	require.Zero(t, r.Read)
}

func TestARunEndsWithItsContext(t *testing.T) {
	for name, stop := range map[string]string{"while it puts": "Put", "while it lists": "List"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				m := providertest.NewMemory()
				calls := 0
				m.Before = func(ctx context.Context, method string) error {
					if method != stop {
						return nil
					}
					if calls++; calls < 3 && stop == "Put" {
						return nil
					}
					cancel()
					<-ctx.Done()
					return ctx.Err()
				}
				r, err := Run(ctx, Options{Store: m, Sources: []string{"-"}, Stdin: strings.NewReader(lines(4000))})
				require.ErrorIs(t, err, context.Canceled)
				checkReport(t, r)
				m.Before = nil
				require.Len(t, stored(t, m), r.Stored, "what was acknowledged is what is reported")
				if stop == "Put" {
					require.Equal(t, 2000, r.Stored)
					require.Zero(t, r.Failed, "nobody knows whether it failed")
					require.Len(t, r.Notices, 1)
					require.Contains(t, r.Notices[0].Text, "1000 documents were sent")
				}
			})
		})
	}
}

func TestABatchThatWasSentIsAnsweredAlsoWhenTheRunIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m := providertest.NewMemory()
		m.Before = func(ctx context.Context, method string) error {
			if method == "Put" {
				cancel()
				time.Sleep(grace - time.Second)
			}
			return nil
		}
		r, err := Run(ctx, Options{Store: m, Sources: []string{"-"}, Stdin: strings.NewReader(lines(4000))})
		require.ErrorIs(t, err, context.Canceled)
		m.Before = nil
		require.Len(t, stored(t, m), 1000)
		require.Equal(t, 1000, r.Stored)
		require.Empty(t, r.Notices)
	})
}

func TestARunEndsWhileItsInputSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent, w := io.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		r, err := Run(ctx, Options{Store: forgetful{}, Sources: []string{"-"}, Stdin: silent})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(start))
		require.Zero(t, r.Read)
		w.Close() // which ends the goroutine that waits for it
	})
}

func TestCallbacksAreOneAtATime(t *testing.T) {
	var mu sync.Mutex
	alone := func() {
		if !mu.TryLock() {
			t.Error("a callback was called during another")
			return
		}
		time.Sleep(time.Microsecond)
		mu.Unlock()
	}
	text := strings.Repeat("nonsense\n", 500)
	m := providertest.NewMemory()
	store := putFunc{m, func(_ context.Context, docs []provider.Document) ([]provider.PutResult, error) {
		return make([]provider.PutResult, len(docs)), nil // no outcome: each fails
	}}
	r, err := Run(t.Context(), Options{
		Store: store, Sources: []string{"-"}, Stdin: strings.NewReader(lines(1200) + text),
		OnFailure: func(Failure) { alone() }, OnNotice: func(Notice) { alone() }, Progress: func(Progress) { alone() },
	})
	require.NoError(t, err)
	require.Equal(t, 1700, r.Failed)
}
