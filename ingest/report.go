package ingest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// MaxListed is how many failures, and how many notices, a Report keeps. Those
// past it are counted, and have gone to Options.OnFailure and OnNotice.
const MaxListed = 1000

// Report is what became of everything a run came across. As JSON it is what
// "siteprovider ingest --json" prints.
//
// Every document, everything left out and every place that could not be read
// is counted in Read and in exactly one of the six numbers that follow it:
//
//	Read = Stored + Unchanged + Pending + Superseded + Skipped + Failed
//
// What was read but got no outcome because the run was ended is in none.
type Report struct {
	Read       int `json:"read"`
	Stored     int `json:"stored"`
	Unchanged  int `json:"unchanged"`  // the store had it already; most of these are not even sent
	Pending    int `json:"pending"`    // written, not found by a search yet
	Superseded int `json:"superseded"` // a later document of its batch had its identity
	Skipped    int `json:"skipped"`    // left out on purpose; SkippedBy says why
	Failed     int `json:"failed"`     // documents, lines, scripts and sources, each with a Failure
	Deleted    int `json:"deleted"`

	Failures        []Failure `json:"failures"` // in the order they came up; at most MaxListed
	FailuresOmitted int       `json:"failures_omitted,omitempty"`

	SkippedBy map[string]int `json:"skipped_by,omitempty"` // reason → how many; adds up to Skipped
	Repairs   int            `json:"repairs,omitempty"`    // scripts that were broken and could be mended
	Wordless  int            `json:"wordless,omitempty"`   // documents sent that have no readable word; their JSON is indexed instead

	Notices        []Notice `json:"notices,omitempty"` // at most MaxListed
	NoticesOmitted int      `json:"notices_omitted,omitempty"`
}

// Place is where in the input something is.
type Place struct {
	Source string // a path as it was found, or "-"
	Line   int    // 1-based, of the decompressed text; 0 when it is about the source as a whole
	Script int    // 1-based number of the script of an HTML page; 0 elsewhere
	URL    string // of the document, where it is known
}

// String returns "source:line, script n, url" without the parts that are unknown.
func (p Place) String() string {
	var b strings.Builder
	b.WriteString(p.Source)
	if p.Line > 0 {
		b.WriteString(":" + strconv.Itoa(p.Line))
	}
	if p.Script > 0 {
		b.WriteString(", script " + strconv.Itoa(p.Script))
	}
	if p.URL != "" {
		b.WriteString(", " + p.URL)
	}
	return b.String()
}

// Failure is something that is not in the store although it should be.
type Failure struct {
	Place
	Err error
}

// String returns the place and the error.
func (f Failure) String() string { return fmt.Sprintf("%v: %v", f.Place, f.Err) }

// MarshalJSON writes {"source","line","script","url","error"}.
func (f Failure) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Source string `json:"source"`
		Line   int    `json:"line"`
		Script int    `json:"script"`
		URL    string `json:"url"`
		Error  string `json:"error"`
	}{f.Source, f.Line, f.Script, f.URL, fmt.Sprint(f.Err)})
}

// Notice is something a site's owner may want to know although nothing failed.
type Notice struct {
	Place
	Text string
}

// String returns the place, if there is one, and the text.
func (n Notice) String() string {
	if n.Place == (Place{}) {
		return n.Text
	}
	return fmt.Sprintf("%v: %s", n.Place, n.Text)
}

// MarshalJSON writes {"source","line","script","url","text"}.
func (n Notice) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Source string `json:"source"`
		Line   int    `json:"line"`
		Script int    `json:"script"`
		URL    string `json:"url"`
		Text   string `json:"text"`
	}{n.Source, n.Line, n.Script, n.URL, n.Text})
}
