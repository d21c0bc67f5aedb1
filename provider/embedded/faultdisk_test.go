package embedded

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// faultDisk makes what SQLite does to the files of one directory fail: writing,
// syncing, cutting off, removing and making them larger.
type faultDisk struct {
	dir string

	mu     sync.Mutex
	count  int   // of what was done since arm
	failAt int   // the count at which to fail; 0: never
	stays  bool  // whether it goes on failing
	code   int32 // SQLite's code for it
	torn   bool  // half of what is to be written is written
	before func()
	failed bool
}

// faultDisks are the disks by their directories, and the files open on them.
var faultDisks struct {
	once  sync.Once
	mu    sync.Mutex
	dirs  map[string]*faultDisk
	files map[uintptr]*faultDisk

	methods map[uintptr]uintptr // the sqlite3_io_methods of such files, by those that they stand for
	of      map[uintptr]uintptr // the other way round
	open    uintptr
	delete  uintptr
}

// newFaultDisk watches the directory of a store that is not open yet.
func newFaultDisk(t testing.TB, dir string) *faultDisk {
	faultDisks.once.Do(installFaultDisks)
	d := &faultDisk{dir: dir}
	faultDisks.mu.Lock()
	defer faultDisks.mu.Unlock()
	faultDisks.dirs[dir] = d
	t.Cleanup(func() {
		faultDisks.mu.Lock()
		defer faultDisks.mu.Unlock()
		delete(faultDisks.dirs, dir)
	})
	return d
}

// arm makes the nth thing from now on fail with a code, or, where it stays,
// everything from it on.
func (d *faultDisk) arm(nth int, code int32, stays, torn bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count, d.failAt, d.code, d.stays, d.torn, d.failed = 0, nth, code, stays, torn, false
}

// heal makes everything work again, and reports whether anything had failed.
func (d *faultDisk) heal() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failAt = 0
	return d.failed
}

// fails is called before each thing that is done.
func (d *faultDisk) fails() (code int32, torn bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failAt == 0 {
		return 0, false
	}
	d.count++
	if d.count != d.failAt && (!d.stays || d.count < d.failAt) {
		return 0, false
	}
	if !d.failed && d.before != nil {
		d.before()
	}
	d.failed = true
	return d.code, d.torn
}

func diskOf(file uintptr) *faultDisk {
	faultDisks.mu.Lock()
	defer faultDisks.mu.Unlock()
	return faultDisks.files[file]
}

// installFaultDisks puts functions of this file between SQLite and the methods
// of its files. They do nothing to files elsewhere.
func installFaultDisks() {
	tls := libc.NewTLS()
	defer tls.Close()
	f := &faultDisks
	f.dirs, f.files = make(map[string]*faultDisk), make(map[uintptr]*faultDisk)
	f.methods, f.of = make(map[uintptr]uintptr), make(map[uintptr]uintptr)
	vfs := (*sqlite3.Tsqlite3_vfs)(pointer(sqlite3.Xsqlite3_vfs_find(tls, 0)))
	f.open, f.delete = vfs.FxOpen, vfs.FxDelete
	vfs.FxOpen = *(*uintptr)(unsafe.Pointer(&faultOpenFunc))
	vfs.FxDelete = *(*uintptr)(unsafe.Pointer(&faultDeleteFunc))
}

// C functions are Go functions with these signatures, by their addresses.
type (
	openFunc   = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	deleteFunc = func(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32
	closeFunc  = func(tls *libc.TLS, file uintptr) int32
	writeFunc  = func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32
	sizeFunc   = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunc   = func(tls *libc.TLS, file uintptr, flags int32) int32
	mapFunc    = func(tls *libc.TLS, file uintptr, region, size, extend int32, out uintptr) int32
)

var (
	faultOpenFunc   openFunc   = faultOpen
	faultDeleteFunc deleteFunc = faultDelete
	faultCloseFunc  closeFunc  = faultClose
	faultWriteFunc  writeFunc  = faultWrite
	faultSizeFunc   sizeFunc   = faultTruncate
	faultSyncFunc   syncFunc   = faultSync
	faultMapFunc    mapFunc    = faultMap
)

// function returns the C function at an address.
func function[F any](address uintptr) F {
	return *(*F)(unsafe.Pointer(&struct{ uintptr }{address}))
}

// pointer turns an address that C gave out, which no garbage collector moves,
// into a pointer.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

func faultOpen(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	var disk *faultDisk
	if name != 0 {
		dir := filepath.Dir(strings.Clone(libc.GoString(name)))
		faultDisks.mu.Lock()
		disk = faultDisks.dirs[dir]
		faultDisks.mu.Unlock()
	}
	code := function[openFunc](faultDisks.open)(tls, vfs, name, file, flags, outFlags)
	f := (*sqlite3.Tsqlite3_file)(pointer(file))
	if disk == nil || code != sqlite3.SQLITE_OK || f.FpMethods == 0 {
		return code
	}
	faultDisks.mu.Lock()
	defer faultDisks.mu.Unlock()
	address := faultDisks.methods[f.FpMethods]
	if address == 0 {
		address = libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
		m := (*sqlite3.Tsqlite3_io_methods)(pointer(address))
		*m = *(*sqlite3.Tsqlite3_io_methods)(pointer(f.FpMethods))
		m.FxClose = *(*uintptr)(unsafe.Pointer(&faultCloseFunc))
		m.FxWrite = *(*uintptr)(unsafe.Pointer(&faultWriteFunc))
		m.FxTruncate = *(*uintptr)(unsafe.Pointer(&faultSizeFunc))
		m.FxSync = *(*uintptr)(unsafe.Pointer(&faultSyncFunc))
		m.FxShmMap = *(*uintptr)(unsafe.Pointer(&faultMapFunc))
		faultDisks.methods[f.FpMethods], faultDisks.of[address] = address, f.FpMethods
	}
	f.FpMethods = address
	faultDisks.files[file] = disk
	return code
}

// original returns the methods that a file had, which those of a faultDisk
// stand for.
func original(file uintptr) *sqlite3.Tsqlite3_io_methods {
	faultDisks.mu.Lock()
	defer faultDisks.mu.Unlock()
	return (*sqlite3.Tsqlite3_io_methods)(pointer(faultDisks.of[(*sqlite3.Tsqlite3_file)(pointer(file)).FpMethods]))
}

func faultDelete(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32 {
	faultDisks.mu.Lock()
	disk := faultDisks.dirs[filepath.Dir(libc.GoString(name))]
	faultDisks.mu.Unlock()
	if disk != nil {
		if code, _ := disk.fails(); code != 0 {
			return sqlite3.SQLITE_IOERR_DELETE
		}
	}
	return function[deleteFunc](faultDisks.delete)(tls, vfs, name, syncDir)
}

func faultClose(tls *libc.TLS, file uintptr) int32 {
	m := original(file)
	faultDisks.mu.Lock()
	delete(faultDisks.files, file)
	faultDisks.mu.Unlock()
	return function[closeFunc](m.FxClose)(tls, file)
}

func faultWrite(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	write := function[writeFunc](original(file).FxWrite)
	code, torn := diskOf(file).fails()
	if code == 0 {
		return write(tls, file, data, n, at)
	}
	if torn && n > 1 {
		write(tls, file, data, n/2, at)
	}
	return code
}

func faultTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	if code, _ := diskOf(file).fails(); code != 0 {
		return sqlite3.SQLITE_IOERR_TRUNCATE
	}
	return function[sizeFunc](original(file).FxTruncate)(tls, file, size)
}

func faultSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	if code, _ := diskOf(file).fails(); code != 0 {
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	return function[syncFunc](original(file).FxSync)(tls, file, flags)
}

func faultMap(tls *libc.TLS, file uintptr, region, size, extend int32, out uintptr) int32 {
	if extend != 0 {
		if code, _ := diskOf(file).fails(); code != 0 {
			return sqlite3.SQLITE_IOERR_SHMSIZE
		}
	}
	return function[mapFunc](original(file).FxShmMap)(tls, file, region, size, extend, out)
}
