// Package embedded is a provider that keeps its documents and its search index
// in one SQLite file: no server, no key, no network.
//
//	store, err := embedded.Open(ctx, embedded.Options{Dir: "siteprovider-data"})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// Every Put and every Delete is one durable transaction, so documents and index
// never disagree, and several processes may use one file at once. The ranking
// is this package's own, and per site: what one site holds never moves the
// results of another. It is not a general text index and not a general
// database; local file systems only.
package embedded

import (
	"context"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

// FileName is the name of the store's file in Options.Dir. SQLite keeps two
// more beside it while it is open, with "-wal" and "-shm" appended.
const FileName = "siteprovider.db"

// StoreVersion is the version of the file's layout that this package writes. A
// file with a newer one is refused.
const StoreVersion = 3

// Options says where a store is and how it is held. Only Dir is required.
type Options struct {
	// Dir is the directory of the file. Open creates it, with mode 0700.
	Dir string
	// MustExist makes Open fail, with an error that matches ErrInvalid,
	// where there is no store yet, instead of creating one.
	MustExist bool
	// CacheBytes bounds the index kept in memory between searches; 0 means
	// DefaultCacheBytes. A single search may hold more while it runs.
	CacheBytes int64
	// Version is what Info reports as the version of the program; empty
	// means that of the main module, as built.
	Version string
	// Log is told what the store mended by itself; nil: nobody is.
	Log *slog.Logger

	maxPages int           // of the file; 0: no bound. For tests of a full disk.
	calm     time.Duration // after which the keeper tidies up; 0: keeperCalm; less: there is no keeper. For tests.
}

// DefaultCacheBytes is the bound of the index in memory: that of about 1,000,000
// documents of a hundred words, be they on one site or on a thousand.
const DefaultCacheBytes = 320 << 20

// Store is an open store. It is safe for concurrent use.
type Store struct {
	path    string
	version string
	log     *slog.Logger

	files   *connections
	indexes *indexCache
	sites   catalogueCache
	queue   queue // of what is to be written

	rebuilds  rebuilds
	workshop  atomic.Pointer[workshop]
	stemmers  sync.Pool // of *stemmer
	scratches sync.Pool // of *scratch

	open      context.Context // ends when the store is closed
	shut      context.CancelFunc
	closing   sync.Once
	closeErr  error
	calls     sync.WaitGroup
	busy      atomic.Int64 // calls in progress
	callsLock sync.RWMutex // so that no call begins once Close waits for them
}

// Open opens the store in o.Dir and creates it where there is none. A file that
// is no store, or a damaged one, gives an error that matches ErrCorrupt; one
// written by a newer version, ErrUnsupported. Neither is touched.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Dir == "" {
		return nil, provider.Invalidf("Options.Dir", "is empty")
	}
	if !utf8.ValidString(o.Dir) {
		return nil, provider.Invalidf("Options.Dir", "%q is not valid UTF-8", o.Dir)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, provider.Errorf(provider.ErrInternal, "open store: %v", err)
	}
	path := filepath.Join(dir, FileName)
	if err := ensureFile(ctx, dir, path, o.MustExist); err != nil {
		return nil, err
	}
	files, err := connect(ctx, path, o.maxPages)
	if err != nil {
		return nil, err
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	if o.Version == "" {
		o.Version = "(devel)"
		if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
			o.Version = build.Main.Version
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{path: path, version: o.Version, log: o.Log, files: files, indexes: newIndexCache(o.CacheBytes)}
	s.workshop.Store(newWorkshop())
	s.stemmers.New = func() any { return newStemmer() }
	s.scratches.New = func() any { return new(scratch) }
	s.open, s.shut = context.WithCancel(context.Background())
	if !files.fixed && o.calm >= 0 {
		k := newKeeper(s, o.calm)
		files.written = k.poke
		s.calls.Go(func() { k.run(s.open) })
		s.calls.Go(func() { newCatchUp(s).run(s.open, catchUpFirst) })
	}
	return s, nil
}

// Exists reports whether there is anything under the name of a store's file in
// dir, or dir may not be looked into. Whether it is a store, Open tells.
func Exists(dir string) bool { return isThere(filepath.Join(dir, FileName)) }

// Close waits for the calls in progress, which it cancels, and closes the file.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.callsLock.Lock()
		s.shut()
		s.callsLock.Unlock()
		s.calls.Wait()
		s.closeErr = s.files.close()
	})
	return s.closeErr
}

// begin registers a call. The context it returns ends with the caller's, and
// when the store is closed; done must be called when the call is over.
func (s *Store) begin(ctx context.Context) (_ context.Context, done func(), err error) {
	s.callsLock.RLock()
	defer s.callsLock.RUnlock()
	if s.open.Err() != nil {
		return nil, nil, errClosed()
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	s.calls.Add(1)
	s.busy.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.open, func() { cancel(errClosed()) })
	return ctx, func() { stop(); cancel(nil); s.busy.Add(-1); s.calls.Done() }, nil
}

func errClosed() error {
	return provider.Errorf(provider.ErrUnavailable, "the store is closed")
}

// Info describes the store. Documents is exact.
func (s *Store) Info(ctx context.Context) (provider.Info, error) {
	sites, err := s.Sites(ctx)
	if err != nil {
		return provider.Info{}, err
	}
	info := provider.Info{
		Name:         "siteprovider",
		Version:      s.version,
		Backend:      "embedded",
		Capabilities: []provider.Capability{provider.CanFilter, provider.CanList, provider.CanWrite},
	}
	for _, site := range sites {
		info.Documents += site.Documents
	}
	return info, nil
}

var _ provider.Provider = (*Store)(nil)
