package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cut returns the units of text, an error shown as "!" and its first words.
func cut(t *testing.T, text string, lines bool, limit int) []string {
	t.Helper()
	s := newSplitter(bufio.NewReaderSize(strings.NewReader(text), 16), 0)
	s.limit = limit
	next := s.nextValue
	if lines {
		next = s.nextLine
	}
	var got []string
	for {
		u, err := next()
		switch {
		case u.err != nil:
			got = append(got, fmt.Sprintf("%d!%v", u.line, u.err))
		case u.notice != "":
			got = append(got, fmt.Sprintf("%d(notice)", u.line))
		case u.text != nil:
			got = append(got, fmt.Sprintf("%d:%s", u.line, u.text))
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, errGaveUp) {
				t.Fatal(err)
			}
			return got
		}
	}
}

func TestLinesAreUnits(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"blank lines are passed over", "\n{\"a\":1}\n\n  \t\n{\"b\":2}\n", []string{`2:{"a":1}`, `5:{"b":2}`}},
		{"CRLF ends a line", "{\"a\":1}\r\n\r\n{\"b\":2}\r\n", []string{`1:{"a":1}`, `3:{"b":2}`}},
		{"the last line needs no end", "{}\n[]", []string{`1:{}`, `2:[]`}},
		{"a line longer than the buffer is whole", `{"long":"` + strings.Repeat("x", 70) + `"}` + "\n{}", []string{`1:{"long":"` + strings.Repeat("x", 70) + `"}`, `2:{}`}},
		{"a line over the limit costs only itself", "{}\n" + strings.Repeat("x", 101) + "\n[]\n",
			[]string{`1:{}`, "2!invalid argument: line: 102 bytes are more than 100, the limit of a line", `3:[]`}},
		{"a line at the limit is read", strings.Repeat("x", 100) + "\r\n[]\n", []string{"1:" + strings.Repeat("x", 100), `2:[]`}},
		{"the last line may be over the limit", "{}\n" + strings.Repeat("x", 150),
			[]string{`1:{}`, "2!invalid argument: line: 150 bytes are more than 100, the limit of a line"}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, cut(t, c.text, true, 100)) })
	}
}

func TestValuesAreUnits(t *testing.T) {
	long := `{"long":"` + strings.Repeat("x", 120) + `"}`
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"values over several lines", "{\n\"a\": 1\n}\n\n[\n2\n]", []string{"1:{\n\"a\": 1\n}", "5:[\n2\n]"}},
		{"values side by side", `{"a":1}{"b":2},{"c":3}`, []string{`1:{"a":1}`, `1:{"b":2}`, `1:{"c":3}`}},
		{"records of RFC 7464", "\x1e{\"a\":1}\n\x1e{\"b\":2}\n", []string{`1:{"a":1}`, `2:{"b":2}`}},
		{"brackets and escapes inside strings", `{"a":"}]\"}"} {"b\\":"{"}`, []string{`1:{"a":"}]\"}"}`, `1:{"b\\":"{"}`}},
		{"text between values is an error of its own", "{}\nhello\n{\"a\":1} and so on\n[]",
			[]string{`1:{}`, `2!"hello" is no JSON object`, `3:{"a":1}`, `3!"and so on" is no JSON object`, `4:[]`}},
		{"a value without end is a unit", "{}\n{\"a\":", []string{`1:{}`, `2:{"a":`}},
		{"an object over the limit costs only itself", "{}\n" + long + "\n[1]",
			[]string{`1:{}`, "2!invalid argument: value: 131 bytes are more than 100, the limit of a JSON value that is no list", `3:[1]`}},
		{"an object over the limit without end", "{}\n" + long[:125],
			[]string{`1:{}`, "2!invalid argument: value: 125 bytes are more than 100, the limit of a JSON value that is no list"}},
		{"a list over the limit is read member by member", "[\n" + strings.Repeat(`{"a":1},`+"\n", 14) + `{"b":2}` + "\n]\n{\"c\":3}",
			append(append([]string{"1(notice)"}, numbered(`{"a":1}`, 2, 15)...), `16:{"b":2}`, `18:{"c":3}`)},
		{"a list over the limit that does not end", "[" + strings.Repeat(`{"a":1},`, 14),
			append(append([]string{"1(notice)"}, times(`1:{"a":1}`, 14)...), "1!the list has no end")},
		{"members that are no objects", "[1,\"x\",{\"a\":1}," + strings.Repeat(" ", 100) + "null]",
			[]string{"1(notice)", `1:1`, `1:"x"`, `1:{"a":1}`, `1:null`}},
		{"members that are nothing", "[tru,{\"a\":1}," + strings.Repeat(" ", 100) + "]", []string{"1(notice)", `1!"tru" is no JSON object`, `1:{"a":1}`}},
		{"a member over the limit costs only itself", "[{}," + long + ",[2]]",
			[]string{"1(notice)", `1:{}`, "1!invalid argument: value: 131 bytes are more than 100, the limit of a JSON value that is no list", `1:[2]`}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, cut(t, c.text, false, 100)) })
	}
}

func TestAStreamThatDoesNotEndIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		lines bool
	}{
		"line":   {"x", true},
		"value":  {`{"a":"x`, false},
		"member": {"[[", false},
		"text":   {"hello ", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSplitter(bufio.NewReader(&endless{text: c.text}), 0)
			s.limit, s.skip = 1<<10, 1<<20
			next := s.nextValue
			if c.lines {
				next = s.nextLine
			}
			for range 10 {
				u, err := next()
				if err == nil {
					continue // the notice of a list
				}
				require.ErrorIs(t, err, errGaveUp)
				require.ErrorIs(t, u.err, errGaveUp)
				require.Less(t, s.offset, int64(2<<20))
				return
			}
			t.Fatal("the text goes on without end, want it given up")
		})
	}
}

// endless begins with text and repeats its last byte forever.
type endless struct{ text string }

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text)
	e.text = e.text[min(n, len(e.text)-1):]
	for i := n; i < len(p); i++ {
		p[i] = e.text[len(e.text)-1]
	}
	return len(p), nil
}

func TestABrokenValueDoesNotSwallowWhatFollows(t *testing.T) {
	text := "{\"a\":1}\n{\"b\": [\n{\"c\":3}\n{\"d\":4"
	pieces, clean := cutValues(unit{text: []byte(text), line: 10, offset: 1000}, false)
	require.False(t, clean)
	var got []string
	for _, p := range pieces {
		require.Equal(t, string(p.text), text[p.offset-1000:][:len(p.text)], "offset %d", p.offset)
		got = append(got, fmt.Sprintf("%d:%s", p.line, bytes.TrimSpace(p.text)))
	}
	require.Equal(t, []string{`10:{"a":1}`, `11:{"b": [`, `12:{"c":3}`, `13:{"d":4`}, got)
}

func TestCuttingAHopelessTextTakesLittleTime(t *testing.T) {
	// Every second line opens what is never closed: looking behind each of
	// them to the end would be 10^12 steps.
	text := bytes.Repeat([]byte("{\"a\":\n{}\n"), 1<<18)
	pieces, clean := cutValues(unit{text: text, line: 1}, false)
	require.False(t, clean)
	require.LessOrEqual(t, len(pieces), 4*(1+maxReread/len(text)))
}

func numbered(text string, from, to int) []string {
	var out []string
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprintf("%d:%s", i, text))
	}
	return out
}

func times(s string, n int) []string {
	var out []string
	for range n {
		out = append(out, s)
	}
	return out
}

// FuzzSplit holds the splitter to its promise: whatever the bytes, each is in a
// unit, in the place of an error, or a blank or comma between units, and units
// are in order and know their place.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"", "{}", "[]\n[]", "{\"a\":\"}\"}\n{", "[{\"a\":1},2,\"x,y\",[3]]tail", "a\tb\r\n\n{}\x1e[]", "]]}},{{", "\"\\\"", "[\xff,{\xfe}]",
		"[" + strings.Repeat("{\"a\":[1,2]},", 20) + "] {} ]", strings.Repeat("[", 100),
	} {
		f.Add([]byte(s), true, 40)
		f.Add([]byte(s), false, 40)
		f.Add([]byte(s), false, 1000)
	}
	f.Fuzz(func(t *testing.T, text []byte, lines bool, limit int) {
		limit = 4 + min(max(limit, 0), 1<<16)
		s := newSplitter(bufio.NewReaderSize(bytes.NewReader(text), 16), 0)
		s.limit = limit
		next, between := s.nextValue, " \t\r\n,;\x1e"
		if lines {
			next, between = s.nextLine, " \t\r\n\v\f\u0085\u00a0" // what TrimSpace trims, of a line that is blank
		}
		at := int64(0)
		for {
			u, err := next()
			if err == io.EOF {
				gap := string(text[at:])
				if !lines && strings.Contains(gap, "]") {
					gap = strings.ReplaceAll(gap, "]", "") // of a list that was read member by member
				}
				if strings.Trim(gap, between) != "" && len(bytes.TrimSpace(text[at:])) > 0 && (lines || strings.Trim(gap, between) != "") {
					t.Fatalf("bytes %d to the end %q are in no unit", at, gap)
				}
				return
			}
			if err != nil {
				t.Fatalf("error %v from a text in memory", err)
			}
			if u.offset < at {
				t.Fatalf("unit at %d begins before the end of the one before, %d", u.offset, at)
			}
			gap := strings.ReplaceAll(string(text[at:u.offset]), "]", "")
			if len(bytes.TrimSpace([]byte(strings.Trim(gap, between)))) > 0 {
				t.Fatalf("bytes %d to %d %q are in no unit", at, u.offset, gap)
			}
			if want := 1 + bytes.Count(text[:u.offset], []byte("\n")); u.line != want {
				t.Fatalf("unit at %d is on line %d, want %d", u.offset, u.line, want)
			}
			switch {
			case u.notice != "":
				at = u.offset + 1
			case u.err != nil:
				at = s.offset
			default:
				if len(u.text) > limit {
					t.Fatalf("a unit has %d bytes, over the limit of %d", len(u.text), limit)
				}
				if !bytes.HasPrefix(text[u.offset:], u.text) {
					t.Fatalf("unit %q is not what stands at %d", u.text, u.offset)
				}
				at = u.offset + int64(len(u.text))
			}
		}
	})
}

// FuzzCutValues: valid values in a row come out as they are, and nothing of a
// broken text is lost or there twice.
func FuzzCutValues(f *testing.F) {
	for _, s := range []string{"{}{}", "{\"a\":\n{}\n{}", "[1][2]", "{\"a\":1},\n{\"b\":}\n{\"c\":3}\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		pieces, clean := cutValues(unit{text: text, line: 1}, false)
		at := int64(0)
		for _, p := range pieces {
			if p.offset < at {
				t.Fatalf("piece at %d overlaps the one before, which ends at %d", p.offset, at)
			}
			if p.err != nil {
				if clean {
					t.Fatal("clean although there is an error")
				}
				at = p.offset
				continue
			}
			if !bytes.HasPrefix(text[p.offset:], p.text) {
				t.Fatalf("piece %q is not what stands at %d", p.text, p.offset)
			}
			if clean && !validJSON(p.text) {
				t.Fatalf("clean although %q is not valid", p.text)
			}
			at = p.offset + int64(len(p.text))
		}
	})
}
