package goodmem

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

// reading is one way in which a server may read the text of a filter. The
// reader below shares no code with what writes filters.
type reading struct {
	name    string
	doubles bool // '' is a quote and \ a plain character
	breaks  bool // \\n, \\r and \\t are read as control characters
}

var readings = map[Dialect][]reading{
	Backslash: {{name: "backslash"}, {name: "backslash that breaks lines", breaks: true}},
	Doubling:  {{name: "doubling", doubles: true}},
}

// token is a word or sign of an expression, or with isText the value of a text.
type token struct {
	text   string
	isText bool
}

func (r reading) tokens(s string) ([]token, error) {
	var out []token
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ':
			i++
		case c == '\'':
			value, rest, err := r.text(s[i+1:])
			if err != nil {
				return nil, err
			}
			out = append(out, token{value, true})
			i = len(s) - len(rest)
		case strings.HasPrefix(s[i:], "--"):
			return out, nil
		case strings.HasPrefix(s[i:], "||"):
			out = append(out, token{text: "||"})
			i += 2
		case c == '(' || c == ')' || c == '=':
			out = append(out, token{text: string(c)})
			i++
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			n := i
			for n < len(s) && 'a' <= s[n]|0x20 && s[n]|0x20 <= 'z' {
				n++
			}
			out = append(out, token{text: s[i:n]})
			i = n
		default:
			return nil, fmt.Errorf("%q has no meaning at %d", c, i)
		}
	}
	return out, nil
}

// text reads up to the closing quote and returns what is behind it.
func (r reading) text(s string) (value, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case r.doubles && strings.HasPrefix(s[i:], "''"):
			b.WriteByte('\'')
			i++
		case s[i] == '\'':
			if !r.doubles && strings.HasPrefix(s[i+1:], "'") {
				return "", "", errors.New("two texts without anything between")
			}
			return b.String(), s[i+1:], nil
		case s[i] < ' ':
			return "", "", errors.New("a control character in a text")
		case s[i] == '\\' && !r.doubles:
			if r.breaks && len(s) > i+2 && s[i+1] == '\\' && strings.IndexByte("nrt", s[i+2]) >= 0 {
				b.WriteByte('\n')
				i += 2
				continue
			}
			if i++; i == len(s) || s[i] != '\'' && s[i] != '\\' {
				return "", "", errors.New("an escape that does not exist")
			}
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", errors.New("a text without end")
}

// equality reads CAST(val('$.FIELD') AS TEXT) = VALUE and nothing else; VALUE
// is a text, or texts joined with || in parentheses.
func (r reading) equality(s string) (field, value string, err error) {
	tokens, err := r.tokens(s)
	if err != nil {
		return "", "", err
	}
	next := func() token {
		if len(tokens) == 0 {
			return token{}
		}
		t := tokens[0]
		tokens = tokens[1:]
		return t
	}
	expect := func(words ...string) {
		for _, w := range words {
			if t := next(); err == nil && (t.isText || t.text != w) {
				err = fmt.Errorf("%v where %q belongs", t, w)
			}
		}
	}
	expect("CAST", "(", "val", "(")
	path := next()
	expect(")", "AS", "TEXT", ")", "=")
	inside := len(tokens) > 0 && tokens[0] == token{text: "("}
	if inside {
		next()
	}
	for {
		t := next()
		if !t.isText {
			return "", "", fmt.Errorf("%v where a text belongs", t)
		}
		value += t.text
		if !inside || len(tokens) == 0 || tokens[0] != (token{text: "||"}) {
			break
		}
		next()
	}
	if inside {
		expect(")")
	}
	if len(tokens) > 0 {
		return "", "", fmt.Errorf("%v behind the end", tokens)
	}
	field, ok := strings.CutPrefix(path.text, "$.")
	if !ok || !path.isText {
		return "", "", fmt.Errorf("%v is no path", path)
	}
	return field, value, err
}

// The reader itself finds what is wrong with the ways that are not ours.
func TestTheIndependentReaderTellsTheDialectsApart(t *testing.T) {
	const lead = "CAST(val('$.site') AS TEXT) = "
	backslash, breaks, doubling := readings[Backslash][0], readings[Backslash][1], readings[Doubling][0]
	if _, v, err := backslash.equality(lead + `'\' OR TRUE --'`); err != nil || v != "' OR TRUE --" {
		t.Errorf("backslash: %q, %v", v, err)
	}
	if _, _, err := doubling.equality(lead + `'\' OR TRUE --'`); err == nil {
		t.Error("doubling reads a backslash as an escape")
	}
	if _, _, err := backslash.equality(lead + `'O''Brien'`); err == nil {
		t.Error("backslash reads a doubled quote")
	}
	if _, v, err := breaks.equality(lead + `'C:\\new'`); err != nil || v == `C:\new` {
		t.Errorf("what breaks lines reads %q, %v", v, err)
	}
}

func FuzzASiteIsOneEqualityWithItsValue(f *testing.F) {
	for _, s := range []string{
		"a.example", "", "O'Brien", `C:\new`, `\`, `\\`, `\'`, `'\`, `' OR TRUE --`, `\' OR TRUE --`, `'' OR ''=''`,
		`\\n`, `\n`, "münchen.example", "日本", "a\nb", "a\x00", "\xff", `' || val('$.x') || '`, "\u0085", `x'||'y`, "$.", "%", "--",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, site string) {
		e := Compare("site", provider.Equal, site)
		legal := utf8.ValidString(site) && strings.IndexFunc(site, unicode.IsControl) < 0
		for _, d := range []Dialect{AnyDialect, Backslash, Doubling} {
			text, err := e.render(d)
			if !legal {
				if !errors.Is(err, provider.ErrInvalid) || text != "" {
					t.Fatalf("%v: %q gives %q, %v, want an invalid argument", d, site, text, err)
				}
				continue
			}
			if d == AnyDialect && err != nil {
				if !strings.ContainsAny(site, `'\`) {
					t.Fatalf("%q needs no dialect, and gives %v", site, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%v: %q gives %v", d, site, err)
			}
			rs := readings[d]
			if d == AnyDialect {
				rs = append(append(rs, readings[Backslash]...), readings[Doubling]...)
			}
			for _, r := range rs {
				if field, value, err := r.equality(text); err != nil || field != "site" || value != site {
					t.Fatalf("%v read as %s: %s\ngives %q = %q, %v, want site = %q", d, r.name, text, field, value, err, site)
				}
			}
		}
	})
}
