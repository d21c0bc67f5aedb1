package goodmem

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// The bounds of the answer to one retrieval, in bytes. A line holds a memory
// with the object of its document, which JSON in JSON can swell to several
// times provider.MaxObjectBytes.
const (
	maxLineBytes   = 32 << 20
	maxStreamBytes = 256 << 20
)

// stream reads the events of a retrieval, one JSON object to a line.
type stream struct {
	line, total int  // bounds
	reranker    bool // one was asked for
	sets        map[string]string
	open        map[string]bool // result sets that began and have not ended
	seen        map[string]bool // chunk ids
	events      int
	out         *Retrieval
}

// readStream reads the answer to a retrieval. reranker says whether one was
// asked for, which counts only where the server does not say what it did. What
// breaks off or cannot be read costs what comes behind it: what arrived is kept,
// with the status MALFORMED_STREAM. The error is for a context that is done, and
// for a connection that broke before anything arrived.
func readStream(ctx context.Context, r io.Reader, reranker bool) (*Retrieval, error) {
	s := newStream(reranker)
	return s.read(ctx, r)
}

func newStream(reranker bool) *stream {
	return &stream{
		line: maxLineBytes, total: maxStreamBytes, reranker: reranker,
		sets: map[string]string{}, open: map[string]bool{}, seen: map[string]bool{},
		out: &Retrieval{Memories: map[string]Memory{}},
	}
}

func (s *stream) read(ctx context.Context, r io.Reader) (*Retrieval, error) {
	err := s.lines(bufio.NewReaderSize(r, 64<<10))
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("read the answer of the server: %w", ctx.Err())
	}
	var unreadable *lineError
	if err != nil && s.events == 0 && !errors.As(err, &unreadable) {
		return nil, fmt.Errorf("the connection broke before the server answered: %w", err)
	}
	switch {
	case err != nil:
	case s.events == 0:
		err = errors.New("the answer is empty")
	case len(s.open) > 0:
		err = errors.New("the answer ends before its results do")
	}
	if err != nil {
		s.out.Statuses = append(s.out.Statuses, newStatus(StatusMalformedStream, err.Error(), nil))
	}
	s.finish()
	return s.out, nil
}

// lineError is what is wrong with the text of an answer, in contrast to what
// went wrong on its way.
type lineError struct{ reason string }

func (e *lineError) Error() string { return e.reason }

// lines reads events until the end or to the first that cannot be read.
func (s *stream) lines(r *bufio.Reader) error {
	var line []byte
	room := s.total
	for n := 1; ; {
		part, err := r.ReadSlice('\n')
		room -= len(part)
		if room < 0 {
			return &lineError{fmt.Sprintf("the answer is longer than %d bytes", s.total)}
		}
		if len(line)+len(part) > s.line {
			return &lineError{fmt.Sprintf("line %d of the answer is longer than %d bytes", n, s.line)}
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if broken := s.event(text); broken != "" {
				return &lineError{fmt.Sprintf("line %d of the answer %s", n, broken)}
			}
			s.events++
		}
		if err != nil {
			return nil
		}
		line = line[:0]
		n++
	}
}

// event takes one line in and says what is wrong with it. Members and events
// that this version does not know are passed over.
func (s *stream) event(line []byte) string {
	switch {
	case !utf8.Valid(line):
		return "is not valid UTF-8"
	case provider.ExceedsJSONDepth(line):
		return "is nested too deep"
	case !gjson.ValidBytes(line):
		return "is not JSON, or broke off"
	}
	event := gjson.ParseBytes(line) // a copy: line is used again
	if !event.IsObject() {
		return "is no JSON object"
	}
	event.ForEach(func(k, v gjson.Result) bool {
		if !v.IsObject() {
			return true
		}
		switch k.Str {
		case "resultSetBoundary":
			s.boundary(v)
		case "memoryDefinition":
			s.memory(v)
		case "retrievedItem":
			v.ForEach(func(k, v gjson.Result) bool {
				switch {
				case k.Str == "chunk" && v.IsObject():
					s.chunk(v)
				case k.Str == "memory" && v.IsObject():
					s.memory(v)
				}
				return true
			})
		case "abstractReply":
			v.ForEach(func(k, v gjson.Result) bool {
				if k.Str == "text" && v.Type == gjson.String {
					s.out.Answer = &v.Str
				}
				return true
			})
		case "status":
			s.status(v)
		}
		return true
	})
	return ""
}

func (s *stream) boundary(v gjson.Result) {
	var id, kind, stage string
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "resultSetId":
			id = text(v)
		case "kind":
			kind = text(v)
		case "stageName":
			stage = text(v)
		}
		return true
	})
	switch kind {
	case "BEGIN":
		s.sets[id] = stage
		s.open[id] = true
		if s.out.ResultSetID == "" || stage == "rerank" {
			s.out.ResultSetID = id
		}
	case "END":
		delete(s.open, id)
	}
}

func (s *stream) memory(v gjson.Result) {
	if m := readMemory(v); m.ID != "" {
		s.out.Memories[m.ID] = m
	}
}

func (s *stream) chunk(v gjson.Result) {
	var c Chunk
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "resultSetId":
			c.ResultSetID = text(v)
		case "relevanceScore":
			if v.Type == gjson.Number && !math.IsInf(v.Num, 0) {
				c.RawScore, c.HasScore = v.Num, true
			}
		case "chunk":
			v.ForEach(func(k, v gjson.Result) bool {
				switch k.Str {
				case "chunkId":
					c.ID = strings.ToLower(text(v))
				case "memoryId":
					c.MemoryID = strings.ToLower(text(v))
				case "chunkText":
					c.Text = text(v)
				case "metadata":
					c.Metadata = object(v)
				}
				return true
			})
		}
		return true
	})
	if c.ID != "" {
		key := c.ResultSetID + " " + c.ID
		if s.seen[key] {
			return
		}
		s.seen[key] = true
	}
	s.out.Chunks = append(s.out.Chunks, c)
}

func (s *stream) status(v gjson.Result) {
	var code, message string
	var details map[string]string
	v.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "code":
			code = text(v)
		case k.Str == "message":
			message = text(v)
		case k.Str == "details" && v.IsObject():
			details = map[string]string{}
			v.ForEach(func(k, v gjson.Result) bool {
				details[k.Str] = v.String()
				return true
			})
		}
		return true
	})
	s.out.Statuses = append(s.out.Statuses, newStatus(code, message, details))
}

// finish decides what the scores are, which can be known only behind the last
// status. Chunks of a set that was not reranked do not stand among those of one
// that was: their scores do not compare.
func (s *stream) finish() {
	failed := saysNotReranked(s.out.Statuses)
	kept, reranked := s.out.Chunks[:0:0], false
	for i := range s.out.Chunks {
		c := &s.out.Chunks[i]
		c.Kind = provider.ScoreVector
		stage := s.sets[c.ResultSetID]
		if !failed && (stage == "rerank" || stage != "retrieve" && s.reranker) {
			c.Kind, reranked = provider.ScoreReranker, true
		}
	}
	ids := map[string]bool{}
	for _, c := range s.out.Chunks {
		if reranked && c.Kind != provider.ScoreReranker || c.ID != "" && ids[c.ID] {
			continue
		}
		ids[c.ID] = true
		kept = append(kept, c)
	}
	s.out.Chunks = kept
	if len(kept) > 0 {
		s.out.ScoreKind = kept[0].Kind
	}
}
