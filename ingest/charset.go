package ingest

import (
	"bytes"
	"fmt"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/htmlindex"
)

// decodeHTML returns a page as UTF-8 where it says what it is in. A page that
// is valid UTF-8 is taken for that whatever it says: text in another encoding
// hardly ever is, while tools that save pages as UTF-8 leave the old
// declaration standing. A page that says nothing is returned as it is, so that
// its scripts of plain ASCII can still be read and the others are reported.
func decodeHTML(page []byte) ([]byte, error) {
	const escape = 0x1B // ISO-2022-JP is made of ASCII and this
	if utf8.Valid(page) && bytes.IndexByte(page, escape) < 0 {
		return page, nil
	}
	label := declaredCharset(page)
	enc, err := htmlindex.Get(label)
	if err != nil {
		return page, nil
	}
	switch name, _ := htmlindex.Name(enc); name {
	case "utf-8", "utf-16le", "utf-16be", "replacement":
		// A declaration written in ASCII cannot be in UTF-16; the HTML
		// standard reads it as UTF-8.
		return page, nil
	}
	text, err := enc.NewDecoder().Bytes(page)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", label, err)
	}
	return text, nil
}

var xmlEncoding = regexp.MustCompile(`^<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// declaredCharset returns what a page says about its encoding near its
// beginning: in an XML declaration or in a meta element.
func declaredCharset(page []byte) string {
	head := page[:min(len(page), peekBytes)]
	if m := xmlEncoding.FindSubmatch(bytes.TrimSpace(head)); m != nil {
		return string(m[1])
	}
	z := html.NewTokenizer(bytes.NewReader(head))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			if charset := metaCharset(z.Token()); charset != "" {
				return charset
			}
		}
	}
}

func metaCharset(t html.Token) string {
	if t.Data != "meta" {
		return ""
	}
	equiv, content := "", ""
	for _, a := range t.Attr {
		switch a.Key {
		case "charset":
			return strings.TrimSpace(a.Val)
		case "http-equiv":
			equiv = a.Val
		case "content":
			content = a.Val
		}
	}
	if !strings.EqualFold(strings.TrimSpace(equiv), "content-type") {
		return ""
	}
	_, params, _ := mime.ParseMediaType(content)
	return params["charset"]
}
