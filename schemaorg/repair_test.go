package schemaorg

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

func TestRepairChangesOnlyWhatIsBroken(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		values   []string
		what     []string
	}{
		{"a byte order mark", "\uFEFF{\"a\":1}", []string{`{"a":1}`}, []string{fixedBlank}},
		{"blanks that JSON does not know", "\u00a0{\"a\":\u20281}\x00", []string{`{"a":1}`}, []string{fixedBlank}},
		{"an HTML comment before", "<!-- made by [a] shop -->\n{\"a\":1}", []string{`{"a":1}`}, []string{fixedHTML}},
		{"an HTML comment around", "<!--\n{\"a\":1}\n-->", []string{`{"a":1}`}, []string{fixedHTML}},
		{"an HTML comment around, hidden from scripts", "<!--//\n{\"a\":1}\n//-->", []string{`{"a":1}`}, []string{fixedHTML, fixedComment}},
		{"a CDATA wrapper", "<![CDATA[{\"a\":1}]]>", []string{`{"a":1}`}, []string{fixedCDATA}},
		{"a CDATA wrapper in line comments", "//<![CDATA[\n{\"a\":1}\n//]]>", []string{`{"a":1}`}, []string{fixedCDATA}},
		{"a CDATA wrapper and JSON on one line", "// <![CDATA[ {\"a\":[1]} // ]]>", []string{`{"a":[1]}`}, []string{fixedCDATA}},
		{"a CDATA wrapper in block comments", "/*<![CDATA[*/{\"a\":[[1]]}/*]]>*/", []string{`{"a":[[1]]}`}, []string{fixedComment}},
		{"comments between tokens", "{/* b */\"a\"/**/:1 // c\n}", []string{"{\"a\":1 \n}"}, []string{fixedComment}},
		{"what looks like a comment in a string", `{"a":"// x /* y */ <!-- z -->",}`, []string{`{"a":"// x /* y */ <!-- z -->"}`}, []string{fixedComma}},
		{"trailing commas", `{"a":[1,2,],"b":{"c":1 , } ,}`, []string{`{"a":[1,2],"b":{"c":1  } }`}, []string{fixedComma}},
		{"a comma and brace in a string", `{"a":"x,}",}`, []string{`{"a":"x,}"}`}, []string{fixedComma}},
		{"doubled and leading commas", `[,1,,2]`, []string{`[1,2]`}, []string{fixedComma}},
		{"a semicolon", "{\"a\":1};\n", []string{`{"a":1}`}, []string{fixedSemicolon}},
		{"raw control characters", "{\"a\":\"b\nc\td\x01\"}", []string{`{"a":"b\nc\td\u0001"}`}, []string{fixedControl}},
		{"several values", "{\"a\":1}\n{\"b\":2},[3]", []string{`{"a":1}`, `{"b":2}`, `[3]`}, []string{fixedSeveral, fixedComma}},
		{"an extra brace", `{"a":1}}`, []string{`{"a":1}`}, []string{fixedTail}},
		{"an extra brace between values", `{"a":1}} {"b":2}`, []string{`{"a":1}`, `{"b":2}`}, []string{fixedTail, fixedSeveral}},
		{"text after the value", `{"a":1} thanks [1]`, []string{`{"a":1}`}, []string{fixedTail}},
		{"text between values", `{"a":1} and {"b":2}`, []string{`{"a":1}`, `{"b":2}`}, []string{fixedTail, fixedSeveral}},
		{"a missing comma between the objects of a list", `[{"a":1} {"b":2}]`, []string{`[{"a":1} ,{"b":2}]`}, []string{fixedBetween}},
		{"escapes of JavaScript", `{"a":"it\'s \x41 \
b"}`, []string{`{"a":"it's \u0041 b"}`}, []string{fixedEscape}},
		{"an escaped sign", `{"a":"50\% \_x\_"}`, []string{`{"a":"50% _x_"}`}, []string{fixedEscape}},
		{"a path of Windows", `{"a":"C:\dir\users \u12"}`, []string{`{"a":"C:\\dir\\users \\u12"}`}, []string{fixedEscape}},
		{"good escapes beside bad ones", `{"a":"\"\\\/\b\f\n\r\t\u00e9\!"}`, []string{`{"a":"\"\\\/\b\f\n\r\t\u00e9!"}`}, []string{fixedEscape}},
		{"quotes as entities", `{&quot;a&quot;:&quot;b &amp;amp; c&quot;}`, []string{`{"a":"b &amp; c"}`}, []string{fixedEntities}},
		{"quotes as numeric entities", `[{&#34;a&#34;:&#x22;b&#034;}]`, []string{`[{"a":"b"}]`}, []string{fixedEntities}},
		{"entities within strings", `{"a":"&quot;b&quot;",}`, []string{`{"a":"&quot;b&quot;"}`}, []string{fixedComma}},
		{"single quotes", `{'a':'say "b"', "c":'\''}`, []string{`{"a":"say \"b\"", "c":"'"}`}, []string{fixedQuote, fixedEscape}},
		{"names without quotes", `{a:1,@type:"B"}`, []string{`{"a":1,"@type":"B"}`}, []string{fixedKey}},
		{"missing values", `{"a":,"b": }`, []string{`{"a":null,"b": null}`}, []string{fixedMissing}},
		{"literals of other languages", `[NaN,-Infinity,undefined,None,True,False]`, []string{`[null,null,null,null,true,false]`}, []string{fixedLiteral}},
		{"only a comment", "<!-- nothing -->", nil, []string{fixedHTML}},
		{"nothing", " \n", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := parse([]byte(tt.in))
			if len(err) > 0 {
				t.Fatalf("%q: %v", tt.in, err)
			}
			var got []string
			for _, v := range p.values {
				got = append(got, string(p.text[v.start:v.end]))
			}
			if !slices.Equal(got, tt.values) {
				t.Errorf("got %q, want %q", got, tt.values)
			}
			slices.Sort(tt.what)
			if !slices.Equal(p.what, tt.what) {
				t.Errorf("repaired %q, want %q", p.what, tt.what)
			}
		})
	}
}

func TestWhatHasNoPlainReadingStaysBroken(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		offset   int // of the byte at fault
		values   int // complete before it
	}{
		{"unescaped quotes", `{"a":"the "b" c"}`, 11, 0},
		{"unescaped quotes in a list", `["a "b"c"]`, 5, 1},
		{"an apostrophe in single quotes", `{'a':'it's'}`, 9, 0},
		{"a missing comma between members", `{"a":1 "b":2}`, 7, 0},
		{"a missing comma between elements of a list inside", `{"a":[{"a":1}{"b":2}]}`, 13, 0},
		{"a text that is cut off", `{"a":[1,2`, 9, 0},
		{"a string that is cut off", `{"a":"b`, 5, 0},
		{"a string that ends in a backslash", `{"a":"b\`, 5, 0},
		{"a value without quotes", `{"a":Max Fox}`, 5, 0},
		{"a number with leading zeros", `{"a":007}`, 5, 0},
		{"a number with commas", `{"a":1,299}`, 7, 0},
		{"prose", `Invalid JSON`, 0, 0},
		{"code", `var x = {}`, 0, 0},
		{"a comment that is cut off", `{"a":1 /* }`, 7, 0},
		{"a closing bracket of the wrong kind", `{"a":[1}`, 7, 0},
		{"a second value that is broken", "{\"a\":1}\n{\"b\":", 13, 1},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", 6, 0},
		{"an object of 201 levels", strings.Repeat(`{"a":`, 201) + "1" + strings.Repeat("}", 201), 1000, 0},
		{"an object of 201 levels in a list", "[" + strings.Repeat(`{"a":`, 201) + "1" + strings.Repeat("}", 201) + "]", 1001, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, errs := parse([]byte(tt.in))
			if len(errs) != 1 {
				t.Fatalf("%q was read as %q with the errors %v, want one", tt.in, p.text, errs)
			}
			if err := errs[0]; err.offset != tt.offset || len(p.values) != tt.values {
				t.Errorf("got offset %d (%v) after %d values, want %d after %d", err.offset, err, len(p.values), tt.offset, tt.values)
			}
		})
	}
}

func TestValidJSONIsNeverChanged(t *testing.T) {
	for _, in := range []string{
		`{"a":"&quot;","b":1.0e+2,"c":"\u00e9\/","a":2}`, ` [1 , 2] `, `"text"`, `null`, `[]`, `{}`,
		`{"lone":"\ud83d"}`, strings.Repeat("[", 200) + strings.Repeat("]", 200),
	} {
		p, err := parse([]byte(in))
		if len(err) > 0 || len(p.what) > 0 || len(p.values) != 1 {
			t.Fatalf("%q: %v, repaired %q, %d values; want it as it is", in, err, p.what, len(p.values))
		}
		if got := string(p.text[p.values[0].start:p.values[0].end]); got != strings.TrimSpace(in) {
			t.Errorf("got %q, want %q", got, strings.TrimSpace(in))
		}
	}
}

func TestLinesAreThoseOfTheSourceAfterARepair(t *testing.T) {
	script := "/* one\n two */\n{\"@type\":\"Article\",\"name\":\"a\nb\"}\n// c\n\n{\"@type\":\"Event\",\n\"name\":\"d\"}"
	r := Read(Page{URL: "https://site.example/", Scripts: []Script{{Text: []byte(script), Line: 10, Number: 3}}})
	var lines []int
	for _, d := range r.Documents {
		lines = append(lines, d.Line)
	}
	if want := []int{12, 16}; !slices.Equal(lines, want) {
		t.Errorf("documents on lines %v, want %v", lines, want)
	}
	if len(r.Repairs) != 1 || r.Repairs[0].Line != 10 || r.Repairs[0].Script != 3 {
		t.Errorf("repairs %+v, want one of script 3 on line 10", r.Repairs)
	}
}

func FuzzRepair(f *testing.F) {
	for _, c := range bugCases(f) {
		f.Add([]byte(c.Input))
	}
	for _, s := range []string{"<!--{", "//]]>", "{'a':'\\x4", `{"a":"\u12`, "[,]", "{&quot;", "[1,/*\n*/]", "{a:}", "\uFEFF[]};"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		kept := bytes.Clone(in)
		p, errs := parse(in)
		if !bytes.Equal(in, kept) {
			t.Fatal("the input was changed")
		}
		end := 0
		for _, v := range p.values {
			value := p.text[v.start:v.end]
			if !json.Valid(value) {
				t.Fatalf("%q became %q, which is not JSON", in, value)
			}
			if depth := provider.JSONDepth(value); depth > provider.MaxJSONDepth+2 {
				t.Fatalf("depth %d", depth)
			}
			if v.start < end {
				t.Fatalf("values overlap: %v", p.values)
			}
			end = v.end
		}
		if json.Valid(in) && len(errs) == 0 && (len(p.what) > 0 || !bytes.Equal(p.text, in)) {
			t.Fatalf("valid JSON %q became %q by %q", in, p.text, p.what)
		}
		for _, err := range errs {
			if err.offset < 0 || err.offset > len(in) {
				t.Fatalf("offset %d of %d", err.offset, len(in))
			}
		}
		if !slices.IsSorted(p.lost) {
			t.Fatalf("lost line breaks out of order: %v", p.lost)
		}
	})
}
