package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/siteprovider/siteprovider/provider"
)

// chunk is a run of units of one input that are parsed together, so that a
// short line does not cost a hand-over of its own.
type chunk struct {
	input int // index
	units []unit
	bytes int
}

// chunkBytes and chunkUnits are how much is handed over at once. A longer unit
// is alone.
const (
	chunkBytes = 128 << 10
	chunkUnits = 1 << 10
)

// reader reads inputs in order and hands on what it finds as chunks.
type reader struct {
	inputs []input
	stdin  io.Reader
	hand   func(chunk) error // an error ends the reading
	bytes  atomic.Int64      // read so far

	chunk chunk
}

// readAll reads every input. It returns an error only when hand does.
func (r *reader) readAll(ctx context.Context) error {
	for i, in := range r.inputs {
		r.chunk = chunk{input: i}
		err := r.read(ctx, in)
		if err == nil {
			err = r.flush()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// emit hands on a unit.
func (r *reader) emit(u unit) error {
	r.chunk.units = append(r.chunk.units, u)
	r.chunk.bytes += len(u.text)
	if r.chunk.bytes < chunkBytes && len(r.chunk.units) < chunkUnits {
		return nil
	}
	return r.flush()
}

func (r *reader) flush() error {
	if len(r.chunk.units) == 0 {
		return nil
	}
	c := r.chunk
	r.chunk = chunk{input: c.input}
	return r.hand(c)
}

// read hands on the units of in, one of them an error where it cannot be read
// to its end.
func (r *reader) read(ctx context.Context, in input) error {
	raw, err := in.open(r.stdin)
	if err != nil {
		return r.emit(unit{err: err})
	}
	defer raw.Close()
	t, err := openText(counter{raw, &r.bytes})
	if err != nil {
		return r.emit(unit{err: plainPathError(err)})
	}
	defer t.close()
	window, err := t.Peek(windowBytes)
	if err != nil && err != io.EOF {
		// What was readable is still worth having; the error comes again
		// where it struck.
		if len(window) == 0 {
			return r.emit(unit{err: plainPathError(err)})
		}
	}
	kind, sniffed := sniff(window, err == io.EOF)
	if sniffed != nil {
		return r.emit(unit{err: sniffed, unread: in.walked && errors.Is(sniffed, errNoFormat) && !isData(in.name)})
	}
	switch kind {
	case formatHTML:
		return r.readWhole(ctx, t, true)
	case formatValues:
		return r.readWhole(ctx, t, false)
	default:
		s := newSplitter(t.Reader, t.offset)
		return r.readUnits(ctx, s.nextLine)
	}
}

// readWhole reads an input that is one unit. JSON that is too long for one is
// read value by value.
func (r *reader) readWhole(ctx context.Context, t *text, html bool) error {
	var buf bytes.Buffer
	_, err := io.Copy(&buf, io.LimitReader(contextReader{ctx, t}, maxUnit+1))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && html:
		return r.emit(unit{err: plainPathError(err)})
	case err != nil:
		return r.emitBefore(err, unit{text: buf.Bytes(), line: 1, offset: t.offset})
	case buf.Len() <= maxUnit:
		return r.emit(unit{text: buf.Bytes(), line: 1, offset: t.offset, html: html, whole: true})
	case html:
		return r.emit(unit{err: provider.Invalidf("page", "more than %d bytes, the limit of an HTML page", maxUnit)})
	}
	s := newSplitter(t.Reader, t.offset)
	s.putBack(unit{text: buf.Bytes(), line: s.line, offset: s.offset})
	if kind, _ := sniff(buf.Bytes(), false); kind == formatLines { // the first line was longer than the window
		return r.readUnits(ctx, s.nextLine)
	}
	return r.readUnits(ctx, s.nextValue)
}

// emitBefore hands on the values that u holds whole, and the error that cut off
// what followed them.
func (r *reader) emitBefore(lost error, u unit) error {
	pieces, _ := cutValues(u, false)
	for _, p := range pieces {
		if p.err == nil && validJSON(p.text) {
			if err := r.emit(p); err != nil {
				return err
			}
		}
	}
	return r.emit(unit{err: fmt.Errorf("what follows is lost: %w", plainPathError(lost))})
}

// readUnits hands on what next returns until it has no more.
func (r *reader) readUnits(ctx context.Context, next func() (unit, error)) error {
	units := 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		u, err := next()
		if u.text != nil || u.err != nil || u.notice != "" {
			units++
			if err := r.emit(u); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF && units == 0:
			return r.emit(unit{err: errors.New("is blank")})
		case err == io.EOF || err == errGaveUp:
			return nil
		case err != nil:
			return r.emit(unit{err: fmt.Errorf("what follows is lost: %w", plainPathError(err))})
		}
	}
}

// contextReader ends with the context.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
