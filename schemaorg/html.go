package schemaorg

import (
	"bytes"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// ReadHTML finds the JSON-LD scripts of an HTML page and its address. page is
// UTF-8; base is where the page was found, and may be empty.
//
// Page.URL is the canonical link, else og:url, else empty. Page.Base is the
// page's <base href>, else base, else Page.URL. Page.Language is what <html
// lang> names, Page.Title what <title> says. The scripts are slices of page.
// What a browser keeps out of the document is left alone: comments, templates,
// and whatever stands inside textarea, title, style, noscript and the like.
func ReadHTML(page []byte, base string) Page {
	r := htmlReader{source: page, line: 1}
	r.read()

	baseURL := base
	if u := webURL(r.baseHref, base); u != "" {
		if _, err := url.Parse(u); err == nil {
			baseURL = u
		}
	}
	p := Page{Scripts: r.scripts, Base: baseURL, Language: languageTag(r.lang), Title: cutAtWord(strings.Join(strings.Fields(strings.ToValidUTF8(r.title, "\uFFFD")), " "), MaxNameRunes)}
	for _, candidate := range append(r.canonical, r.ogURL...) {
		if p.URL = webURL(candidate, baseURL); p.URL != "" {
			break
		}
	}
	if p.Base == "" {
		p.Base = p.URL
	}
	return p
}

// maxAddresses bounds how many canonical links and og:urls of a page are kept
// until one of them is an address.
const maxAddresses = 16

type htmlReader struct {
	source    []byte
	offset    int // of the end of the tokens read so far
	line      int // 1-based, of offset
	templates int // open <template> elements

	scripts   []Script
	lang      string
	title     string
	baseHref  string
	canonical []string
	ogURL     []string
}

func (r *htmlReader) read() {
	z := html.NewTokenizer(bytes.NewReader(r.source))
	inScript, inTitle := false, false // whose text follows
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		start := r.offset
		r.offset += len(z.Raw())
		if r.offset > len(r.source) {
			return // the tokenizer's bytes and the page's have parted; never seen
		}
		raw := r.source[start:r.offset]
		switch kind {
		case html.TextToken:
			if inTitle && r.title == "" {
				r.title = string(z.Text())
			}
			if inScript {
				r.scripts = append(r.scripts, Script{Text: raw, Line: r.line, Number: len(r.scripts) + 1})
				inScript = false
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			tag := r.startTag(z)
			inScript, inTitle = tag == atom.Script, tag == atom.Title
		case html.EndTagToken:
			inTitle = false
			if inScript { // a script without any text
				r.scripts = append(r.scripts, Script{Text: raw[:0], Line: r.line, Number: len(r.scripts) + 1})
				inScript = false
			}
			if name, _ := z.TagName(); atom.Lookup(name) == atom.Template && r.templates > 0 {
				r.templates--
			}
		}
		r.line += bytes.Count(raw, []byte{'\n'})
	}
}

// startTag takes what it needs from a tag. It returns atom.Script or atom.Title
// where the text that follows is JSON-LD or a title. A self-closing slash means
// nothing in HTML.
func (r *htmlReader) startTag(z *html.Tokenizer) atom.Atom {
	name, hasAttr := z.TagName()
	tag := atom.Lookup(name)
	if tag == atom.Template {
		r.templates++
		return 0
	}
	if r.templates > 0 {
		return 0
	}
	if tag == atom.Title {
		return tag
	}
	if !hasAttr {
		return 0
	}
	switch tag {
	case atom.Html:
		if r.lang == "" {
			r.lang = attributes(z, "lang")["lang"]
		}
	case atom.Script:
		a := attributes(z, "type")
		if isJSONLD(a["type"]) {
			return atom.Script
		}
	case atom.Base:
		a := attributes(z, "href")
		if r.baseHref == "" {
			r.baseHref = a["href"]
		}
	case atom.Link:
		a := attributes(z, "rel", "href")
		if hasToken(a["rel"], "canonical") && len(r.canonical) < maxAddresses {
			r.canonical = append(r.canonical, a["href"])
		}
	case atom.Meta:
		a := attributes(z, "property", "name", "content")
		if (strings.EqualFold(a["property"], "og:url") || strings.EqualFold(a["name"], "og:url")) && len(r.ogURL) < maxAddresses {
			r.ogURL = append(r.ogURL, a["content"])
		}
	}
	return 0
}

// attributes returns those attributes of the current tag that are named, with
// their character references decoded; of one given twice the first counts.
func attributes(z *html.Tokenizer, names ...string) map[string]string {
	found := make(map[string]string, len(names))
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		for _, name := range names {
			if _, dup := found[name]; string(key) == name && !dup {
				found[name] = strings.TrimSpace(string(value))
			}
		}
	}
	return found
}

// isJSONLD reports whether a type attribute means JSON-LD: the MIME type in
// any case, with or without parameters.
func isJSONLD(mime string) bool {
	essence, _, _ := strings.Cut(mime, ";")
	return strings.EqualFold(strings.TrimSpace(essence), "application/ld+json")
}

func hasToken(list, want string) bool {
	for _, token := range strings.Fields(list) {
		if strings.EqualFold(token, want) {
			return true
		}
	}
	return false
}

// webURL returns ref as an absolute http or https URL, resolved against base,
// or "" where it is none.
func webURL(ref, base string) string {
	if strings.TrimSpace(ref) == "" {
		return ""
	}
	u, err := resolve(ref, base)
	if err != nil {
		return ""
	}
	return u
}
