package schemaorg

import (
	"slices"
	"strings"
	"testing"
)

const ldjson = `application/ld+json`

func TestScriptsAreThoseABrowserWouldKeep(t *testing.T) {
	script := func(attr, text string) string { return "<script " + attr + ">" + text + "</script>" }
	for _, tt := range []struct {
		name, page string
		want       []string
	}{
		{"a plain script", script(`type="application/ld+json"`, `{"a":1}`), []string{`{"a":1}`}},
		{"any case, parameters, blanks", script(`TYPE=" Application/LD+JSON ; charset=utf-8"`, `1`), []string{`1`}},
		{"an unquoted type", script(`async type=application/ld+json`, `1`), []string{`1`}},
		{"a type in character references", script(`type="application&#x2F;ld&plus;json"`, `1`), []string{`1`}},
		{"of two types the first", script(`type="text/plain" type="application/ld+json"`, `1`), nil},
		{"other types", script(`type="application/ld+jsonx"`, `1`) + script(`type="application/json"`, `2`) + script(`data-type="application/ld+json"`, `3`) + "<script>4</script>", nil},
		{"bytes as they are", script(`type="application/ld+json"`, "\r\n&quot;<!-- x --> <b>\r"), []string{"\r\n&quot;<!-- x --> <b>\r"}},
		{"an empty script", script(`type="application/ld+json"`, ``) + script(`type="application/ld+json"`, `1`), []string{``, `1`}},
		{"a script in a comment", "<!-- " + script(`type="application/ld+json"`, `1`) + " -->", nil},
		{"a script in a text area, a title, a style", "<textarea>" + script(`type="application/ld+json"`, `1`) + "</textarea><title>" + script(`type="application/ld+json"`, `1`) + "</title>", nil},
		{"a script in a template", "<template><template></template>" + script(`type="application/ld+json"`, `1`) + "</template>" + script(`type="application/ld+json"`, `2`), []string{`2`}},
		{"a script in noscript", "<noscript>" + script(`type="application/ld+json"`, `1`) + "</noscript>", nil},
		{"a script without end", `<script type="application/ld+json">{"a":1}`, []string{`{"a":1}`}},
		{"a self-closing script", `<script type="application/ld+json"/>{"a":1}</script>`, []string{`{"a":1}`}},
		{"a script in a script's text", script(``, `var s='<script type="application/ld+json">1<\/script>'`), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for i, s := range ReadHTML([]byte(tt.page), "").Scripts {
				got = append(got, string(s.Text))
				if s.Number != i+1 {
					t.Errorf("script %d has the number %d", i+1, s.Number)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAPageKnowsItsAddress(t *testing.T) {
	const base = "https://site.example/found/here"
	for _, tt := range []struct{ name, page, url, base string }{
		{"a canonical link", `<link rel="canonical" href="https://www.site.example/a">`, "https://www.site.example/a", base},
		{"a canonical link among others", `<link rel="stylesheet" href="/x"><LINK HREF='/a?b=1&amp;c=2' REL='alternate Canonical'>`, "https://site.example/a?b=1&c=2", base},
		{"og:url", `<meta property="og:url" content="https://site.example/og">`, "https://site.example/og", base},
		{"a canonical link before og:url", `<meta property="og:url" content="/og"><link rel=canonical href=/c>`, "https://site.example/c", base},
		{"og:url where the canonical link is none", `<link rel=canonical href="javascript:x"><link rel=canonical><meta name="og:url" content="/og">`, "https://site.example/og", base},
		{"a base", `<base target=_blank><base href="../shop/"><base href="/no/"><link rel=canonical href="p">`, "https://site.example/shop/p", "https://site.example/shop/"},
		{"a base of another scheme", `<base href="file:///x">`, "", base},
		{"neither", `<p>`, "", base},
		{"in a template", `<template><link rel=canonical href=/no><base href=/no></template>`, "", base},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := ReadHTML([]byte(tt.page), base)
			if p.URL != tt.url || p.Base != tt.base {
				t.Errorf("got URL %q and base %q, want %q and %q", p.URL, p.Base, tt.url, tt.base)
			}
		})
	}
	if p := ReadHTML([]byte(`<link rel=canonical href="https://a.example/x">`), ""); p.Base != "https://a.example/x" {
		t.Errorf("without a base got %q, want the page's address", p.Base)
	}
}

func TestScriptsKnowTheirLine(t *testing.T) {
	page := "<html>\n<!--\n-->\n<script type='" + ldjson + "'>{}</script>\n<p\nclass=x><script type='" + ldjson + "'>\n{}\n</script>"
	var lines []int
	for _, s := range ReadHTML([]byte(page), "").Scripts {
		lines = append(lines, s.Line)
	}
	if want := []int{4, 6}; !slices.Equal(lines, want) {
		t.Errorf("lines %v, want %v", lines, want)
	}
}

func TestABrokenScriptIsReportedWithItsPlace(t *testing.T) {
	page := "<html>\n<script type=" + ldjson + ">{\n\"@type\":\"Article\",\n\"name\":\"a\" \"b\"}</script>\n<script type=" + ldjson + ">{\"@type\":\"Event\",\"name\":\"e\"}</script>"
	p := ReadHTML([]byte(page), "")
	p.URL = "https://site.example/"
	r := Read(p)
	if len(r.Failures) != 1 || r.Failures[0].Line != 4 || r.Failures[0].Script != 1 || r.Failures[0].Offset != 32 {
		t.Errorf("failures %+v, want one on line 4, script 1, byte 32", r.Failures)
	}
	if r.Failures[0].Err == nil || !strings.Contains(r.Failures[0].Err.Error(), "comma") {
		t.Errorf("failure says %v, want what was missing", r.Failures[0].Err)
	}
	if len(r.Documents) != 1 || r.Documents[0].Name != "e" {
		t.Errorf("documents %+v, want the intact script", r.Documents)
	}
}

func FuzzReadHTML(f *testing.F) {
	for _, c := range bugCases(f) {
		if c.Form == "html" {
			f.Add([]byte(c.Input))
		}
	}
	f.Add([]byte("<base href=//x><script type=application/ld+json><!--<script>"))
	f.Add([]byte("<template></template></template><textarea><script type='application/ld+json'>1"))
	f.Fuzz(func(t *testing.T, page []byte) {
		p := ReadHTML(page, "https://site.example/")
		for _, s := range p.Scripts {
			if !strings.Contains(string(page), string(s.Text)) || s.Line < 1 {
				t.Fatalf("script %+v is not of the page", s)
			}
		}
		if p.URL != "" && !strings.HasPrefix(strings.ToLower(p.URL), "http") {
			t.Fatalf("URL %q", p.URL)
		}
		checkAccount(t, Read(p))
	})
}

func TestThePagesLanguageIsForObjectsThatNameNone(t *testing.T) {
	page := ReadHTML([]byte(`<html LANG="de_AT"><link rel=canonical href="https://site.example/p">
		<script type=application/ld+json>{"@type":"Product","name":"Lampe","url":"/lampe"}</script>
		<script type=application/ld+json>{"@type":"Product","name":"Lamp","url":"/lamp","inLanguage":"en"}</script>
		<script type=application/ld+json>{"@context":["https://schema.org",{"@language":"fr"}],"@graph":[{"@type":"Product","name":"Lampe","url":"/fr"}]}</script>`), "")
	if page.Language != "de-AT" {
		t.Errorf("the page's language is %q, want de-AT", page.Language)
	}
	want := map[string]string{"https://site.example/lampe": "de-AT", "https://site.example/lamp": "", "https://site.example/fr": ""}
	for _, f := range Read(page).Documents {
		if got, ok := want[f.URL]; !ok || f.Language != got {
			t.Errorf("%s has the language %q, want %q", f.URL, f.Language, got)
		}
		delete(want, f.URL)
	}
	if len(want) > 0 {
		t.Errorf("not read: %v", want)
	}
	if got := ReadHTML([]byte(`<html lang="x y"><p>`), "").Language; got != "" {
		t.Errorf("a language that is none gave %q", got)
	}
}

func TestThePagesTitleIsOneLine(t *testing.T) {
	for page, want := range map[string]string{
		"<title>Fish &amp; chips\n | Site</title><title>no</title><p>x": "Fish & chips | Site",
		"<title></title><title>second</title>":                          "second",
		"<template><title>no</title></template><p>":                     "",
		"<title>a <b>tag</b>":                                           "a <b>tag</b>",
		"<p>none</p>":                                                   "",
	} {
		if got := ReadHTML([]byte(page), "").Title; got != want {
			t.Errorf("%s: got %q, want %q", page, got, want)
		}
	}
}
