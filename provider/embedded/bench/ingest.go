package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/siteprovider/siteprovider/provider"
)

// turn is how many batches an engine is given before it is another one's turn.
// With more turns noise hits all engines more evenly; with fewer an engine is
// less often stopped in what it does in the background.
const turn = 10

// ingest gives every engine the same batches, one engine after the other. An
// engine whose turn it is not is stopped, so that its work in the background
// is done in its own time.
func (b *bench) ingest(ctx context.Context) error {
	children := make([]*child, len(b.engines))
	defer killAll(children)
	for i, m := range b.engines {
		m.dir = filepath.Join(b.dir, m.name)
		if err := os.Mkdir(m.dir, 0o700); err != nil {
			return err
		}
		var err error
		if children[i], _, err = startOpen(ctx, m.name, m.dir, false); err != nil {
			return err
		}
		if err := children[i].pause(); err != nil {
			return err
		}
	}
	size := turn * b.batch
	for from := 0; from < b.corpus.n; from += size {
		docs, err := b.corpus.documents(from, min(from+size, b.corpus.n))
		if err != nil {
			return err
		}
		for i := range docs {
			b.raw += int64(len(docs[i].URL) + len(docs[i].Schema))
		}
		for _, i := range b.rotated(from / size) {
			if err := b.putAll(b.engines[i], children[i], docs); err != nil {
				return err
			}
		}
		if turns := from/size + 1; turns%5 == 0 {
			b.progress("  %d documents", turns*size)
		}
	}
	for i, m := range b.engines {
		if err := b.finishIngest(m, children[i]); err != nil {
			return err
		}
		children[i] = nil
	}
	return nil
}

// putAll is one engine's turn.
func (b *bench) putAll(m *measured, c *child, docs []provider.Document) error {
	if err := c.resume(); err != nil {
		return err
	}
	for from := 0; from < len(docs); from += b.batch {
		rep, err := c.call(request{Op: opPut, Documents: docs[from:min(from+b.batch, len(docs))]})
		if err != nil {
			return err
		}
		m.batches = append(m.batches, rep.Took)
		m.ingest += rep.Took
	}
	return c.pause()
}

// finishIngest lets an engine settle, counts its documents and closes it.
func (b *bench) finishIngest(m *measured, c *child) error {
	if err := c.resume(); err != nil {
		return err
	}
	rep, err := c.call(request{Op: opSettle, Quiet: b.quiet})
	if err != nil {
		return err
	}
	m.settle = settling{rep.Took, rep.CPU}
	if rep, err = c.call(request{Op: opCount}); err != nil {
		return err
	}
	if rep.Count != int64(b.corpus.n) {
		return fmt.Errorf("%s holds %d documents, want %d", m.name, rep.Count, b.corpus.n)
	}
	if rep, err = c.call(request{Op: opClose}); err != nil {
		return err
	}
	m.ingest += rep.Took
	if rep, err = c.call(request{Op: opUsage}); err != nil {
		return err
	}
	m.ingester = rep.Process
	if m.ingestCPU, err = c.end(); err != nil {
		return err
	}
	m.disk, err = bytesUnder(m.dir)
	return err
}
