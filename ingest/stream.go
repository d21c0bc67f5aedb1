package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow bounds the memory a zstd stream can ask for. It is what the
// zstd tool itself accepts without being told to accept more.
const maxZstdWindow = 128 << 20

// text is an input as UTF-8 text: decompressed, without byte order mark.
type text struct {
	*bufio.Reader
	offset int64 // of the first byte: the length of what was cut off before it
	close  func()
}

// openText turns the raw bytes of an input into text. What is not valid UTF-8
// in it stays as it is: whoever cuts it into pieces knows how much of it is
// lost, and names the place.
func openText(raw io.Reader) (*text, error) {
	r, closeStream, err := decompress(bufio.NewReaderSize(raw, 64<<10))
	if err != nil {
		return nil, err
	}
	t := &text{Reader: r, close: closeStream}
	head, err := t.Peek(peekBytes)
	if err != nil && err != io.EOF && len(head) == 0 {
		t.close()
		return nil, err
	}
	switch order, mark := utf16Order(head); {
	case order != nil:
		t.Discard(mark)
		t.Reader = bufio.NewReaderSize(&utf16Reader{src: r, order: order}, windowBytes)
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		t.Discard(3)
		t.offset = 3
	}
	return t, nil
}

// peekBytes is how much of a stream is looked at to tell its encoding.
const peekBytes = 4 << 10

// decompress unpacks gzip and zstd, each also of several members in a row. It
// tells them by their first bytes. The returned reader can peek windowBytes.
func decompress(r *bufio.Reader) (*bufio.Reader, func(), error) {
	nothing := func() {}
	head, err := r.Peek(4)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1F, 0x8B}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil, fmt.Errorf("decompress gzip: %w", err)
		}
		z.Multistream(false)
		return bufio.NewReaderSize(named{&members{r, z}, "gzip"}, windowBytes), nothing, nil
	case isZstd(head):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("decompress zstd: %w", err)
		}
		return bufio.NewReaderSize(named{z, "zstd"}, windowBytes), z.Close, nil
	}
	return bufio.NewReaderSize(r, windowBytes), nothing, nil
}

// members reads the members of a gzip stream one after another. As gzip itself
// does, it takes no notice of zeros behind the last one, with which tapes and
// some tools fill up a block, nor of blanks.
type members struct {
	src *bufio.Reader
	z   *gzip.Reader
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if err != io.EOF {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
		if err := m.next(); err != nil {
			return 0, err
		}
	}
}

// next goes on to the next member; io.EOF says that there is none.
func (m *members) next() error {
	for {
		c, err := m.src.ReadByte()
		switch {
		case err != nil:
			return err
		case c == 0 || c == '\n' || c == '\r' || c == ' ':
			continue
		}
		if err := m.src.UnreadByte(); err != nil {
			return err
		}
		if head, _ := m.src.Peek(2); !bytes.Equal(head, []byte{0x1F, 0x8B}) {
			return errors.New("what stands behind it is no gzip")
		}
		if err := m.z.Reset(m.src); err != nil {
			return err
		}
		m.z.Multistream(false)
		return nil
	}
}

// isZstd also takes a leading skippable frame, which some writers put first.
func isZstd(head []byte) bool {
	return bytes.Equal(head, []byte{0x28, 0xB5, 0x2F, 0xFD}) ||
		len(head) == 4 && head[0]&0xF0 == 0x50 && bytes.Equal(head[1:], []byte{0x2A, 0x4D, 0x18})
}

// named says in its errors what was being unpacked.
type named struct {
	io.Reader
	format string
}

func (n named) Read(p []byte) (int, error) {
	k, err := n.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("decompress %s: %w", n.format, err)
	}
	return k, err
}

// counter counts what is read through it.
type counter struct {
	io.Reader
	n *atomic.Int64
}

func (c counter) Read(p []byte) (int, error) {
	k, err := c.Reader.Read(p)
	c.n.Add(int64(k))
	return k, err
}
