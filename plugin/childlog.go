package plugin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
)

const (
	keptLines    = 50       // last words of a plugin
	keptLineSize = 1 << 10  // bytes of one of them
	maxLineSize  = 64 << 10 // bytes of one line; the rest of it is dropped
)

// childLog takes what a plugin writes, line by line: it keeps the last lines
// and hands all of them to the host's log. Nothing a plugin writes makes it
// fail.
type childLog struct {
	log *slog.Logger

	mu      sync.Mutex
	last    []string
	inPanic bool
}

// read consumes r to its end.
func (c *childLog) read(r io.Reader) {
	eachLine(r, func(line []byte, cut bool) { c.line(line, cut) })
}

// eachLine calls f with every line of r, without its end, and with whether
// the line was cut at maxLineSize.
func eachLine(r io.Reader, f func(line []byte, cut bool)) {
	br := bufio.NewReaderSize(r, maxLineSize)
	for {
		line, err := br.ReadSlice('\n')
		cut := errors.Is(err, bufio.ErrBufferFull)
		if len(line) > 0 {
			f(bytes.TrimRight(line, "\r\n"), cut)
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = br.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

func (c *childLog) line(line []byte, cut bool) {
	if len(line) == 0 {
		return
	}
	c.mu.Lock()
	if startsPanic(string(line)) {
		c.inPanic = true
	}
	level, msg, attrs := parseLine(line, c.inPanic)
	if cut {
		attrs = append(attrs, slog.Bool("cut", true))
	}
	kept := msg
	if len(kept) > keptLineSize {
		kept = strings.ToValidUTF8(kept[:keptLineSize], "") + "..."
	}
	c.last = append(c.last, kept)
	if len(c.last) > keptLines {
		c.last = c.last[1:]
	}
	c.mu.Unlock()
	c.log.LogAttrs(context.Background(), level, msg, attrs...)
}

// lastWords returns the last lines, oldest first.
func (c *childLog) lastWords() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.last...)
}

// parseLine reads a line of hclog's JSON dialect, or takes it as it is. A
// plain line is of level Info unless it says otherwise, or belongs to a panic.
func parseLine(line []byte, inPanic bool) (slog.Level, string, []slog.Attr) {
	if level, msg, attrs, ok := parseJSONLine(line); ok {
		return level, msg, attrs
	}
	msg := strings.ToValidUTF8(string(line), "\uFFFD")
	if inPanic {
		return slog.LevelError, msg, nil
	}
	if word, _, ok := strings.Cut(strings.TrimPrefix(msg, "["), "]"); ok && msg[0] == '[' {
		if level, ok := levelNamed(word); ok {
			return level, msg, nil
		}
	}
	return slog.LevelInfo, msg, nil
}

// parseJSONLine reads a JSON object with an @message. Members of any type are
// accepted under any name; the first of several equal names counts.
func parseJSONLine(line []byte) (level slog.Level, msg string, attrs []slog.Attr, ok bool) {
	if !json.Valid(line) {
		return 0, "", nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return 0, "", nil, false
	}
	level = slog.LevelInfo
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return 0, "", nil, false
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return 0, "", nil, false
		}
		switch key := name.(string); {
		case key == "@message" && !ok:
			msg, ok = plain(raw), true
		case key == "@level":
			if named, known := levelNamed(plain(raw)); known {
				level = named
			}
		case key == "@timestamp" || key == "@module":
		default:
			attrs = append(attrs, slog.String(key, plain(raw)))
		}
	}
	return level, msg, attrs, ok
}

// plain is the text of a JSON string, or the JSON of anything else.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func levelNamed(name string) (slog.Level, bool) {
	switch strings.ToLower(name) {
	case "trace":
		return slog.LevelDebug - 4, true
	case "debug":
		return slog.LevelDebug, true
	case "info":
		return slog.LevelInfo, true
	case "warn", "warning":
		return slog.LevelWarn, true
	case "error":
		return slog.LevelError, true
	}
	return 0, false
}
