package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// input is one file or stream to read.
type input struct {
	name   string // as the report shows it
	order  string // inputs are read in the order of these
	path   string // empty for standard input
	size   int64  // -1 when unknown
	walked bool   // found in a directory, not named by the caller
}

// open returns the raw bytes of in.
func (in input) open(stdin io.Reader) (io.ReadCloser, error) {
	if in.path != "" {
		f, err := os.Open(in.path)
		return f, plainPathError(err)
	}
	if stdin == nil {
		return nil, errors.New("there is no standard input")
	}
	return io.NopCloser(stdin), nil
}

// expand returns the inputs that sources name, each once and in reading order,
// a failure for each source that names none, and a notice for what is left out
// on the way.
func expand(sources []string) ([]input, []Failure, []Notice) {
	x := expander{seen: make(map[string]bool)}
	for _, s := range sources {
		x.source(s)
	}
	slices.SortStableFunc(x.inputs, func(a, b input) int {
		switch {
		case a.path == "" || b.path == "": // standard input comes last
			return len(b.path) - len(a.path)
		default:
			return strings.Compare(a.order, b.order)
		}
	})
	slices.SortStableFunc(x.failures, func(a, b Failure) int { return strings.Compare(a.Source, b.Source) })
	return x.inputs, x.failures, x.notices
}

type expander struct {
	inputs   []input
	failures []Failure
	notices  []Notice
	seen     map[string]bool
}

func (x *expander) source(s string) {
	if s == "-" {
		x.add(input{name: "-", size: -1}, "-")
		return
	}
	if _, err := os.Stat(s); err == nil || !strings.ContainsAny(s, "*?[") {
		x.path(s)
		return
	}
	matches, err := filepath.Glob(s)
	switch {
	case err != nil:
		x.fail(s, fmt.Errorf("the pattern cannot be read: %w", err))
	case len(matches) == 0:
		x.fail(s, errors.New("no file matches the pattern"))
	}
	for _, m := range matches {
		// A pipe or device is read where it is named, not where it happens to
		// match: reading it may never end.
		if info, err := os.Stat(m); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			x.notices = append(x.notices, Notice{Place{Source: m}, "left out: it is no regular file; name it itself to read it"})
			continue
		}
		x.path(m)
	}
}

// path adds what the caller named: a file of any kind, such as a pipe, or a
// directory.
func (x *expander) path(p string) {
	info, err := os.Stat(p)
	if err != nil {
		x.fail(p, plainPathError(err))
		return
	}
	if !info.IsDir() {
		x.file(p, info, false)
		return
	}
	failures := len(x.failures)
	if x.walk(p) == 0 && len(x.failures) == failures {
		x.fail(p, errors.New("the directory has no file to read"))
	}
}

// walk adds the regular files below dir and returns how many there are. Links
// to files are followed, links to directories are not: they may lead in circles.
// A directory that holds a store is passed over.
func (x *expander) walk(dir string) int {
	if _, err := os.Stat(filepath.Join(dir, storeFile)); err == nil {
		x.notices = append(x.notices, Notice{Place{Source: dir}, "left out: the directory holds a store"})
		return 0
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		x.fail(dir, plainPathError(err))
	}
	n := 0
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || isAsset(e.Name()) {
			continue
		}
		p := filepath.Join(dir, e.Name())
		if e.IsDir() {
			n += x.walk(p)
			continue
		}
		info, err := os.Stat(p)
		switch {
		case err != nil:
			x.fail(p, plainPathError(err))
		case info.Mode().IsRegular():
			x.file(p, info, true)
			n++
		}
	}
	return n
}

func (x *expander) file(p string, info fs.FileInfo, walked bool) {
	order, err := filepath.Abs(p)
	if err != nil {
		order = p
	}
	in := input{name: p, order: filepath.ToSlash(order), path: p, size: -1, walked: walked}
	if info.Mode().IsRegular() {
		in.size = info.Size()
	}
	x.add(in, in.order)
}

func (x *expander) add(in input, key string) {
	if !x.seen[key] {
		x.seen[key] = true
		x.inputs = append(x.inputs, in)
	}
}

func (x *expander) fail(source string, err error) {
	x.failures = append(x.failures, Failure{Place{Source: source}, err})
}

// storeFile is in every directory that the embedded backend keeps a store in.
const storeFile = "siteprovider.db"

// isData reports whether a file says by its name that it holds what is read.
func isData(name string) bool {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	switch filepath.Ext(name) {
	case ".json", ".jsonl", ".ndjson", ".jsonld", ".html", ".htm", ".xhtml", ".tsv":
		return true
	}
	return false
}

// isAsset reports whether a file of a mirrored site is by its name one that
// only decorates pages. Such files are passed over when a directory is walked;
// named by the caller they are looked into like any other.
func isAsset(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".css", ".js", ".mjs", ".map", ".wasm",
		".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".ico", ".bmp",
		".woff", ".woff2", ".ttf", ".otf", ".eot",
		".mp3", ".mp4", ".m4a", ".ogg", ".wav", ".webm", ".mov", ".pdf":
		return true
	}
	return false
}

// plainPathError drops the path from an error of package os, because a Failure
// names it already.
func plainPathError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Op, pe.Err)
	}
	return err
}
