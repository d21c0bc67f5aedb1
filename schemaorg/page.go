package schemaorg

import (
	"fmt"

	"github.com/siteprovider/siteprovider/provider"
)

// Page is what one page, one JSON value or one wrapper holds. Its scripts are
// read as one graph.
type Page struct {
	// URL is the page's own address. It names what has no address of its
	// own; where it is empty, such an object is refused.
	URL string
	// Base is what relative URLs are resolved against; empty: URL.
	Base string
	// Site is copied to every document of the page.
	Site string
	// Language is the page's own, as a BCP 47 tag; empty where it names none.
	Language string
	// Title is what the page calls itself, on one line. Read makes no use of
	// it: it is for objects that have no name.
	Title string
	// Wrapper says that all documents of the page are one, under URL: the
	// page is a line of "url<TAB>json", or an envelope that names the URL.
	Wrapper bool
	Scripts []Script
}

// Script is one JSON-LD text of a page.
type Script struct {
	Text   []byte
	Line   int // 1-based line of the source on which Text starts
	Number int // 1-based place among the scripts of the page
}

// Reading is what Read made of a page. Every node of the page is in exactly one
// place: Nodes is the sum of Found.Nodes over Documents, plus one for each of
// Skipped, plus one for each of Failures with Node set.
type Reading struct {
	Nodes     int
	Documents []Found   // in source order
	Skipped   []Skip    // left out, for a reason that is no error
	Failures  []Failure // scripts that could not be read, and nodes refused
	Repairs   []Repair  // scripts that were read only after a repair
}

// Found is a document of a page.
type Found struct {
	URL      string // absolute, http or https
	Site     string // Page.Site
	Name     string
	Types    []string // without the schema.org prefix
	Language string   // Page.Language, where the object names none; else empty
	Schema   []byte   // one object, or a list of objects with the main one first
	Line     int      // 1-based line of the source on which the (main) object starts
	Script   int      // Script.Number
	Nodes    int      // how many nodes of the page it holds, 1 or more
}

// Skip is a node that is no document of its own.
type Skip struct {
	Reason Reason
	Types  []string // of the node, as far as it has any
	URL    string   // its @id or url as written, where it has one
	Line   int
	Script int
}

// Reason says why a node was left out.
type Reason string

// The reasons.
const (
	Boilerplate Reason = "boilerplate"   // of a boilerplate type, or a picture of such a node, beside a document
	Joined      Reason = "joined"        // of a supporting type, and put in place in a document
	NoText      Reason = "no text"       // of a supporting type, without a readable word
	NoType      Reason = "no type"       // without @type
	ListMember  Reason = "list member"   // a member of an ItemList of the page, beside a document
	Variant     Reason = "variant"       // a variant of a ProductGroup that holds it
	Repeated    Reason = "repeated"      // the same bytes as an earlier node of the page
	Container   Reason = "container"     // an object whose @graph holds nodes
	NotObject   Reason = "not an object" // a text, number, boolean or null in a node's place
	Empty       Reason = "empty"         // a script, list or @graph with nothing in it
)

// Failure is a script that could not be read, or a node that was refused.
type Failure struct {
	Line   int // 1-based line of the source on which the trouble is
	Script int // Script.Number
	Offset int // byte of the script on which the trouble is
	URL    string
	Node   bool  // one node was refused; otherwise the script as a whole
	Err    error // matches provider.ErrInvalid
}

// invalidError is an error of the text that was read. It matches
// provider.ErrInvalid without saying so once more.
type invalidError string

func (e invalidError) Error() string { return string(e) }

func (e invalidError) Unwrap() error { return provider.ErrInvalid }

func invalidf(format string, args ...any) error {
	return invalidError(fmt.Sprintf(format, args...))
}

// Repair says what had to be repaired before a script could be read.
type Repair struct {
	Line   int // 1-based line of the source on which the script starts
	Script int // Script.Number
	What   []string
}
