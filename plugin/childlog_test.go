package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func TestLinesOfAPluginKeepTheirLevel(t *testing.T) {
	for _, tt := range []struct {
		line    string
		inPanic bool
		level   slog.Level
		msg     string
		attrs   string
	}{
		{`{"@level":"warn","@message":"slow","@timestamp":"2026-09-01T10:00:00.000000Z","@module":"x","ms":12,"ok":true,"list":[1, 2]}`,
			false, slog.LevelWarn, "slow", `[ms=12 ok=true list=[1, 2]]`},
		{`{"@message":5}`, false, slog.LevelInfo, "5", `[]`},
		{`{"@message":null,"@level":{"a":1},"@timestamp":[]}`, false, slog.LevelInfo, "", `[]`},
		{`{"@message":"first","@message":"second"}`, false, slog.LevelInfo, "first", `[@message=second]`},
		{`{"@level":"trace","@message":"t"}`, false, slog.LevelDebug - 4, "t", `[]`},
		{`{"@level":"loud","@message":"t"}`, false, slog.LevelInfo, "t", `[]`},
		{`{"msg":"of another library","level":"ERROR"}`, false, slog.LevelInfo, `{"msg":"of another library","level":"ERROR"}`, `[]`},
		{`{"@message":"cut`, false, slog.LevelInfo, `{"@message":"cut`, `[]`},
		{`[1]`, false, slog.LevelInfo, "[1]", `[]`},
		{"[ERROR] old style", false, slog.LevelError, "[ERROR] old style", `[]`},
		{"[DEBUG", false, slog.LevelInfo, "[DEBUG", `[]`},
		{"plain", false, slog.LevelInfo, "plain", `[]`},
		{"goroutine 1 [running]:", true, slog.LevelError, "goroutine 1 [running]:", `[]`},
		{"\xff\xfe", false, slog.LevelInfo, "\uFFFD", `[]`},
	} {
		level, msg, attrs := parseLine([]byte(tt.line), tt.inPanic)
		if level != tt.level || msg != tt.msg || fmt.Sprint(attrs) != tt.attrs {
			t.Errorf("%s\n got %v %q %v\nwant %v %q %v", tt.line, level, msg, attrs, tt.level, tt.msg, tt.attrs)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	for _, line := range []string{
		`{"@message":5}`, `{"@level":"warn","@message":"m","a":{"b":[null]}}`, "[WARN] x", "panic: x", "", "{", `{"@message"`, "[", "\xff",
	} {
		f.Add([]byte(line), false)
	}
	f.Fuzz(func(t *testing.T, line []byte, inPanic bool) {
		_, msg, attrs := parseLine(line, inPanic)
		if !utf8.ValidString(msg) {
			t.Errorf("the message %q is no text", msg)
		}
		for _, a := range attrs {
			if !utf8.ValidString(a.Key) || a.Value.Kind() != slog.KindString {
				t.Errorf("the attribute %v is no text", a)
			}
		}
	})
}

func TestLinesOfAnyLengthAreReadInOrder(t *testing.T) {
	long := strings.Repeat("l", maxLineSize)
	in := "a\n\r\n" + long + "lost\nb\r\n" + long[:maxLineSize-1] + "\nno end"
	var got []string
	eachLine(iotest.OneByteReader(strings.NewReader(in)), func(line []byte, cut bool) {
		got = append(got, fmt.Sprintf("%.8s %d %v", line, len(line), cut))
	})
	want := []string{
		"a 1 false", " 0 false", fmt.Sprintf("llllllll %d true", maxLineSize), "b 1 false",
		fmt.Sprintf("llllllll %d false", maxLineSize-1), "no end 6 false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("lines\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheLastWordsAreFewAndShort(t *testing.T) {
	c := &childLog{log: slog.New(slog.DiscardHandler)}
	var in strings.Builder
	for i := range 2 * keptLines {
		fmt.Fprintf(&in, "%d %s\n", i, strings.Repeat("x", 2*keptLineSize))
	}
	c.read(io.MultiReader(strings.NewReader(in.String()), iotest.ErrReader(errors.New("broken pipe"))))
	words := c.lastWords()
	if len(words) != keptLines || !strings.HasPrefix(words[0], fmt.Sprint(keptLines, " ")) {
		t.Fatalf("%d last words that begin with %.8q, want the last %d lines", len(words), words[0], keptLines)
	}
	for _, w := range words {
		if len(w) > keptLineSize+len("...") {
			t.Errorf("a last word of %d bytes", len(w))
		}
	}
}

func TestAPanicIsWhatTheLastWordsTell(t *testing.T) {
	lines := []string{"starting", "panic: index out of range", "", "goroutine 1 [running]:"}
	for range 20 {
		lines = append(lines, "main.f()")
	}
	if got := telling(lines); !strings.HasPrefix(got, "panic: index out of range\n") {
		t.Errorf("telling gave %q, want the head of the panic", got)
	}
	if got, want := telling([]string{"a", "b", "c", "d"}), "b\nc\nd"; got != want {
		t.Errorf("telling gave %q, want %q", got, want)
	}
}

// What a plugin logs through slog arrives at the host as it was.
func TestALogRecordSurvivesTheDialect(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelDebug - 4, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		var out bytes.Buffer
		log := newLogger(&out, slog.LevelDebug-4)
		log.With("site", "a.example").WithGroup("store").Log(t.Context(), level, "line\nbreak", "rows", 3, "msg", "not the message")
		if n := strings.Count(out.String(), "\n"); n != 1 {
			t.Fatalf("a record of %d lines: %q", n, out.String())
		}
		gotLevel, msg, attrs := parseLine(bytes.TrimSpace(out.Bytes()), false)
		if gotLevel != level || msg != "line\nbreak" {
			t.Errorf("%v %q arrived as %v %q", level, "line\nbreak", gotLevel, msg)
		}
		if want := `[site=a.example store={"rows":3,"msg":"not the message"}]`; fmt.Sprint(attrs) != want {
			t.Errorf("attributes %v, want %s", attrs, want)
		}
	}
}

func TestTheEnvironmentIsPicked(t *testing.T) {
	got := childEnv([]string{"PATH=/bin", "SECRET=1", "LANG=C", "REGION=north", "EMPTY=", "PLUGIN_CLIENT_CERT=x", "=odd"}, []string{"REGION", "EMPTY"}, slog.LevelWarn)
	want := []string{"PATH=/bin", "LANG=C", "REGION=north", "EMPTY=", LeaseEnv + "=stdin", LogLevelEnv + "=WARN"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("environment %q, want %q", got, want)
	}
}

func TestHandshakesAreToldFromOtherOutput(t *testing.T) {
	for line, want := range map[string]bool{
		"1|1|unix|/tmp/x|grpc|":       true,
		"1|1|tcp|127.0.0.1:1|grpc":    true,
		"9|x|unix|/tmp/x|grpc|":       false,
		"1|1|unix":                    false,
		"1|1|pipe|/tmp/x|grpc|":       false,
		"| name | price | unix | x |": false,
		"":                            false,
	} {
		if got := isHandshake([]byte(line)); got != want {
			t.Errorf("isHandshake(%q) = %v, want %v", line, got, want)
		}
	}
}
