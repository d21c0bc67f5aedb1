package goodmemtest

import (
	"bytes"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"
)

// extracted is the text of a content and what is known of its pages.
type extracted struct {
	text  string
	pages int // 0 for what has none
}

var (
	pdfPage = regexp.MustCompile(`/Type\s*/Page\b[^s]`)
	pdfText = regexp.MustCompile(`\(((?:[^()\\]|\\.)*)\)\s*Tj`)
)

// extract returns the text that is indexed. As the server does it ends with one
// line feed more than the content has, so that offsets can pass the content's
// end. Of a PDF only plain, uncompressed strings are read.
func extract(content []byte, contentType string) (extracted, bool) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media = contentType
	}
	switch {
	case media == "application/pdf" || bytes.HasPrefix(content, []byte("%PDF-")):
		var b strings.Builder
		for _, m := range pdfText.FindAllSubmatch(content, -1) {
			b.WriteString("\n")
			b.WriteString(pdfUnescape(string(m[1])))
		}
		return extracted{strings.ToValidUTF8(b.String(), "\uFFFD") + "\n\n\n", max(len(pdfPage.FindAll(content, -1)), 1)}, true
	case utf8.Valid(content) && !bytes.ContainsRune(content, 0):
		return extracted{text: string(content) + "\n"}, true
	case strings.HasPrefix(media, "text/"):
		return extracted{text: strings.ToValidUTF8(string(content), "\uFFFD") + "\n"}, true
	}
	return extracted{}, false
}

func pdfUnescape(s string) string {
	return strings.NewReplacer(`\(`, "(", `\)`, ")", `\\`, `\`, `\n`, "\n").Replace(s)
}
