package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/url"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/schemaorg"
)

// Reasons for leaving something out, beside those of package schemaorg.
const (
	noStructuredData = "page without structured data"
	unreadFormat     = "not a format that is read"
	sameAgain        = "same object again"
	urlTaken         = "another object has its url"
)

// parser makes documents of units. It is safe for concurrent use.
type parser struct {
	site    string // of every document; empty: each one's own
	base    string
	baseURL *url.URL // base; nil when there is none
	single  bool     // there is one input, and base is its address
}

// parsed is what a unit holds.
type parsed struct {
	documents []candidate
	skipped   []string // reasons
	failures  []Failure
	notices   []Notice
	repairs   int
}

// candidate is a document that may have to be sent.
type candidate struct {
	provider.Document
	place    Place
	identity digest
	content  digest
}

// check puts the site of c in canonical form and checks what decides its place
// in a batch. The rest is the store's to check.
func (c *candidate) check() (err error) {
	if c.Site, err = provider.CheckSite("document.Site", c.Site); err != nil {
		return err
	}
	if len(c.Schema) > provider.MaxObjectBytes {
		return provider.Invalidf("document.Schema", "%d bytes are more than MaxObjectBytes = %d", len(c.Schema), provider.MaxObjectBytes)
	}
	return provider.CheckURL("document.URL", c.URL)
}

// parse reads a unit of the input named source.
func (p *parser) parse(source string, u unit) parsed {
	r := reading{parser: p, source: source}
	switch {
	case u.notice != "":
		r.notice(u.line, u.notice)
	case u.unread:
		r.skipped = append(r.skipped, unreadFormat)
		r.notice(0, u.err.Error())
	case u.err != nil:
		r.fail(Place{Line: u.line}, u.err)
	case u.html:
		r.html(u)
	default:
		r.json(u)
	}
	return r.parsed
}

// reading collects what one unit holds.
type reading struct {
	*parser
	source string
	parsed
}

func (r *reading) html(u unit) {
	text, err := decodeHTML(u.text)
	if err != nil {
		r.fail(Place{}, err)
		return
	}
	page := schemaorg.ReadHTML(text, r.base)
	if page.URL == "" && r.single {
		page.URL = r.base
	}
	if len(page.Scripts) == 0 {
		r.skipped = append(r.skipped, noStructuredData)
		return
	}
	r.page(page, page.Title)
}

// json reads JSON, a wrapper or a line of url<TAB>JSON.
func (r *reading) json(u unit) {
	invalid := invalidUTF8(u.text)
	start := bytes.TrimLeft(u.text, " \t\r\n")
	bracket := len(start) > 0 && (start[0] == '{' || start[0] == '[')
	switch {
	case !bracket && isTabLine(firstLine(start)):
		if invalid >= 0 {
			r.notUTF8(u, invalid)
			return
		}
		w, err := readTabLine(u.text)
		r.wrapped(w, err, u.line)
	case !bracket && isAddressed(firstLine(start)):
		address, _, _ := bytes.Cut(start, []byte("\t"))
		r.fail(Place{Line: u.line, URL: shorten(string(bytes.TrimSpace(address)))}, provider.Invalidf("schema", "no JSON follows the URL and its tab"))
	case invalid >= 0 || !validJSON(u.text):
		r.broken(u)
	case !bracket:
		r.skipped = append(r.skipped, string(schemaorg.NotObject))
	default:
		r.value(u)
	}
}

// isAddressed reports whether a line begins with a URL and a tab.
func isAddressed(line []byte) bool {
	address, _, ok := bytes.Cut(line, []byte("\t"))
	return ok && utf8.Valid(address) && provider.HostSite(string(address)) != ""
}

// value reads valid JSON.
func (r *reading) value(u unit) {
	if w, ok, err := readWrapper(u.text); ok {
		r.wrapped(w, err, u.line)
		return
	}
	if holdsWrapper(u.text) { // then each member is a page of its own
		members, _ := cutValues(u, true)
		r.pieces(members)
		return
	}
	r.page(r.plainPage(u), "")
}

// holdsWrapper reports whether a valid list has a wrapper among its members.
func holdsWrapper(text []byte) bool {
	start := bytes.TrimLeft(text, " \t\r\n")
	if len(start) == 0 || start[0] != '[' || !namesSchema(start) {
		return false
	}
	found := false
	gjson.ParseBytes(start).ForEach(func(_, member gjson.Result) bool {
		_, found, _ = readWrapper([]byte(member.Raw))
		return !found
	})
	return found
}

// broken reads what is no valid JSON. Several valid values in a row, and
// wrappers, are read each by itself. Otherwise package schemaorg reads what it
// can of the whole.
func (r *reading) broken(u unit) {
	pieces, clean := cutValues(u, false)
	switch {
	case len(pieces) > 1 && (clean && utf8.Valid(u.text) || len(pieces) > maxValues || namesSchema(u.text)):
		r.pieces(pieces)
	case namesSchema(u.text) && bytes.HasPrefix(bytes.TrimLeft(u.text, " \t\r\n"), []byte("[")):
		members, _ := cutValues(u, true)
		r.pieces(members)
	default:
		r.mend(u)
	}
}

// pieces reads the values that a unit was cut into.
func (r *reading) pieces(pieces []unit) {
	for _, p := range pieces {
		switch {
		case p.err != nil:
			r.fail(Place{Line: p.line}, p.err)
		case validJSON(p.text) && utf8.Valid(p.text):
			r.value(p)
		default:
			r.mend(p)
		}
	}
}

// mend reads one value that is broken.
func (r *reading) mend(u unit) {
	invalid := invalidUTF8(u.text)
	if w, ok, err := readWrapper(u.text); ok {
		if invalid >= 0 {
			r.notUTF8(u, invalid)
			return
		}
		failures := len(r.failures)
		r.wrapped(w, err, u.line)
		if len(r.failures) == failures && validJSON(w.schema) && !gjson.ValidBytes(u.text) {
			r.repairs++ // what was broken is the wrapper
		}
		return
	}
	whole := reading{parser: r.parser, source: r.source}
	whole.page(r.plainPage(u), "")
	if invalid >= 0 && len(whole.documents)+len(whole.skipped) == 0 && len(whole.failures) == 1 {
		r.notUTF8(u, invalid)
		return
	}
	r.add(whole.parsed)
}

// notUTF8 reports a unit that is lost to the byte of it at i.
func (r *reading) notUTF8(u unit, i int) {
	r.fail(Place{Line: u.line + bytes.Count(u.text[:i], []byte("\n"))},
		provider.Invalidf("text", "is not valid UTF-8 at byte %d of the input", u.offset+int64(i)))
}

func (r *reading) plainPage(u unit) schemaorg.Page {
	page := schemaorg.Page{Base: r.base, Scripts: []schemaorg.Script{{Text: u.text, Line: u.line}}}
	if r.single && u.whole {
		page.URL = r.base
	}
	return page
}

func (r *reading) wrapped(w wrapped, err error, line int) {
	var page schemaorg.Page
	if err == nil {
		page, err = w.page(r.base, r.baseURL, line)
	}
	if err != nil {
		r.fail(Place{Line: line, URL: shorten(w.url)}, err)
		return
	}
	r.page(page, w.name)
}

// page reads a page; name is for an object that has none: what a wrapper calls
// it, or the title of its page.
func (r *reading) page(page schemaorg.Page, name string) {
	got := schemaorg.Read(page)
	r.repairs += len(got.Repairs)
	for _, s := range got.Skipped {
		r.skipped = append(r.skipped, string(s.Reason))
	}
	for _, f := range got.Failures {
		url := f.URL
		if url == "" && page.Wrapper {
			url = page.URL
		}
		r.fail(Place{Line: f.Line, Script: f.Script, URL: shorten(url)}, f.Err)
	}
	for _, f := range got.Documents {
		r.found(f, name)
	}
	if len(got.Documents)+len(got.Skipped)+len(got.Failures) == 0 {
		r.fail(Place{Line: page.Scripts[0].Line}, provider.Invalidf("text", "holds no object"))
	}
}

// found makes a candidate of a document. It leaves to the store what the store
// reads out of Schema, so that an unchanged document costs neither side a
// reading, and sends only what Schema lacks: a name, the language of the page.
func (r *reading) found(f schemaorg.Found, name string) {
	c := candidate{
		Document: provider.Document{URL: f.URL, Schema: f.Schema, Language: f.Language},
		place:    Place{Source: r.source, Line: f.Line, Script: f.Script, URL: f.URL},
	}
	if f.Name == "" && len(name) <= provider.MaxNameBytes {
		c.Name = name
	}
	c.Site = r.site
	if c.Site == "" {
		c.Site = f.Site
	}
	if c.Site == "" {
		c.Site = provider.HostSite(f.URL)
	}
	if err := c.check(); err != nil {
		r.fail(c.place, err)
		return
	}
	c.identity = identityOf(c.Site, c.URL)
	c.content = digestOfHex(c.Hash())
	r.documents = append(r.documents, c)
}

func (r *reading) fail(p Place, err error) {
	p.Source = r.source
	r.failures = append(r.failures, Failure{p, err})
}

func (r *reading) notice(line int, text string) {
	r.notices = append(r.notices, Notice{Place{Source: r.source, Line: line}, text})
}

func (r *reading) add(o parsed) {
	r.documents = append(r.documents, o.documents...)
	r.skipped = append(r.skipped, o.skipped...)
	r.failures = append(r.failures, o.failures...)
	r.notices = append(r.notices, o.notices...)
	r.repairs += o.repairs
}

func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; ; {
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
}

// digestOfHex returns the first half of a SHA-256 in hexadecimal; zero when s
// is none, which no object has.
func digestOfHex(s string) (d digest) {
	if len(s) != 64 {
		return digest{}
	}
	if _, err := hex.Decode(d[:], []byte(s[:2*len(d)])); err != nil {
		return digest{}
	}
	return d
}

// identityOf returns the digest that stands for (site, url).
func identityOf(site, url string) (d digest) {
	h := sha256.New()
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(site)))
	h.Write(n[:])
	io.WriteString(h, site)
	io.WriteString(h, url)
	copy(d[:], h.Sum(nil))
	return d
}
