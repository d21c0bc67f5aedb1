package schemaorg

// ReadHTML finds the JSON-LD scripts of an HTML page (UTF-8) that was found
// under base, and its address: the canonical link, else og:url, else empty.
// Page.Base is the page's <base href>, else base, else Page.URL.
func ReadHTML(html []byte, base string) Page { return Page{} }
