package embedded

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

func TestSortedStringsFindsWhatIsInIt(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 15, 16, 17, 32, 33, 500} {
		set := make(map[string]bool)
		for len(set) < n {
			b := make([]byte, random.IntN(12))
			for i := range b {
				b[i] = "ab\x00\xff"[random.IntN(4)]
			}
			set[string(b)] = true
		}
		var want []string
		for s := range set {
			want = append(want, s)
		}
		sort.Strings(want)
		var w sortedWriter
		for _, s := range want {
			w.add([]byte(s))
		}
		list, ok := openSorted(w.appendTo(nil), n)
		if !ok {
			t.Fatalf("a list of %d strings does not open", n)
		}
		c := list.cursor()
		for i, s := range want {
			if got, ok := list.find(s); !ok || got != i {
				t.Fatalf("find(%q) = %d, %t; want %d", s, got, ok, i)
			}
			if got, ok := list.at(i, []byte("x")); !ok || string(got) != "x"+s {
				t.Fatalf("at(%d) = %q, %t; want %q", i, got, ok, s)
			}
			if string(c.current) != s || c.done() {
				t.Fatalf("the cursor is at %q, want %q", c.current, s)
			}
			c.next()
			for _, other := range []string{s + "\x00", s + "a", s[:len(s)/2], s + "\xff\xff"} {
				if _, ok := list.find(other); ok != set[other] {
					t.Fatalf("find(%q) is %t, want %t", other, ok, set[other])
				}
			}
		}
		if !c.done() || c.broken {
			t.Fatalf("the cursor is not done behind %d strings", n)
		}
	}
}

// someDocuments returns documents with made-up words, in the order of their
// URLs, and the names of the terms.
func someDocuments(random *rand.Rand, n int) ([]indexed, []string) {
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("w%d", i*i%1009))
	}
	var docs []indexed
	for i := range n {
		d := indexed{url: fmt.Sprintf("https://a.example/%05d", i)}
		d.terms.language = language(random.IntN(int(languages)))
		d.terms.nameLength, d.terms.textLength = uint32(random.IntN(20)), uint32(random.IntN(3000))
		for id := range names {
			if random.IntN(1+id) < 3 {
				d.terms.counts = append(d.terms.counts, termCount{uint32(id), uint32(random.IntN(3)), 1 + uint32(random.IntN(2)*random.IntN(300))})
			}
		}
		random.Shuffle(len(d.terms.counts), func(i, j int) {
			c := d.terms.counts
			c[i], c[j] = c[j], c[i]
		})
		docs = append(docs, d)
	}
	return docs, names
}

func mustParse(t testing.TB, body []byte) *segment {
	t.Helper()
	s, err := openSegment(seal(slices.Clone(body)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASegmentHoldsWhatWasWritten(t *testing.T) {
	docs, names := someDocuments(rand.New(rand.NewPCG(2, 2)), 200)
	body := new(segmentBuilder).build(names, docs)
	for i := range docs {
		setID(body, i, int64(i)<<32+7)
	}
	s := mustParse(t, body)
	for i, d := range docs {
		if got, ok := s.find(d.url); !ok || got != i {
			t.Errorf("find(%q) = %d, %t; want %d", d.url, got, ok, i)
		}
		if got, want := s.id(i), (int64(i)<<32+7)&maxRowID; got != want {
			t.Errorf("id(%d) = %d, want %d", i, got, want)
		}
		if got, want := language(s.languages[i]), d.terms.language; got != want {
			t.Errorf("language of %d is %d, want %d", i, got, want)
		}
	}
	for id, name := range names {
		var want []posting
		for i, d := range docs {
			for _, c := range d.terms.counts {
				if c.id == uint32(id) {
					want = append(want, posting{uint32(i), c.name, c.text})
				}
			}
		}
		got, err := s.term(name, nil)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("postings of %q are %v, %v; want %v", name, got, err, want)
		}
	}
	if got, err := s.term("unheard-of", nil); len(got) > 0 || err != nil {
		t.Errorf("postings of a term that is not there: %v, %v", got, err)
	}
}

// A merged segment is, byte for byte, the one built at once of the documents
// that live, however they were spread.
func TestMergingIsTheSameAsBuildingAtOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for round := range 20 {
		docs, names := someDocuments(random, 1+random.IntN(150))
		spread := make([][]indexed, 1+random.IntN(5))
		dead := make([]bitmap, len(spread))
		var living []indexed
		for _, d := range docs {
			i := random.IntN(len(spread))
			spread[i] = append(spread[i], d)
			if random.IntN(4) == 0 {
				dead[i] = dead[i].with(len(spread[i])-1, len(docs))
				if j := random.IntN(len(spread)); j != i && random.IntN(2) == 0 {
					// Replaced: the same URL lives in another segment.
					spread[j] = append(spread[j], d)
					living = append(living, d)
				}
				continue
			}
			living = append(living, d)
		}
		var parts []part
		for i, list := range spread {
			parts = append(parts, part{mustParse(t, new(segmentBuilder).build(names, list)), dead[i]})
		}
		got, err := mergeSegments(parts)
		if err != nil {
			t.Fatal(err)
		}
		if want := new(segmentBuilder).build(names, living); !bytes.Equal(got, want) {
			t.Fatalf("round %d: %d documents in %d parts, %d of them living: the merged segment differs", round, len(docs), len(parts), len(living))
		}
	}
}

func TestLengthsAreCodedInOrderAndNearlyExact(t *testing.T) {
	before := byte(0)
	for words := uint32(0); words < 4_000_000; words += 1 + words/50 {
		code := lengthCode(words)
		if code < before {
			t.Fatalf("%d words have code %d, fewer have %d", words, code, before)
		}
		before = code
		got := lengthOf[code]
		if got > words || words-got > words/15 {
			t.Fatalf("%d words are read back as %d", words, got)
		}
	}
}

func TestADamagedSegmentIsAnError(t *testing.T) {
	docs, names := someDocuments(rand.New(rand.NewPCG(4, 4)), 50)
	raw := seal(new(segmentBuilder).build(names, docs))
	for i := range raw {
		broken := slices.Clone(raw)
		broken[i] ^= 0x10
		if _, err := openSegment(broken); err == nil {
			t.Fatalf("byte %d of %d is wrong, and nothing is said", i, len(raw))
		}
		if _, err := openSegment(raw[:i]); err == nil {
			t.Fatalf("only %d of %d bytes are there, and nothing is said", i, len(raw))
		}
	}
}

// A right checksum only says that the bytes are those that were written.
func TestASegmentThatWasWrittenWronglyIsFound(t *testing.T) {
	docs, names := someDocuments(rand.New(rand.NewPCG(6, 6)), 40)
	whole := new(segmentBuilder).build(names, docs)
	for _, c := range []struct {
		name  string
		harm  func(s *segment)
		words string
	}{
		{"nothing", func(*segment) {}, ""},
		{"a language", func(s *segment) { s.languages[3] = byte(languages) }, "document 3 has the language"},
		{"the order of the URLs", func(s *segment) { s.urls.data[1]++ }, "its URLs are out of order"},
		{"the end of the URLs", func(s *segment) { s.urls.data[0] = 0x7f; s.urls.blocks[0] = 0xff }, "its URLs are cut off"},
		{"the order of the terms", func(s *segment) { s.terms.entries[len(s.terms.entries)-4] ^= 0x55 }, "out of order"},
		{"a place of terms", func(s *segment) { s.terms.buckets[8]++ }, "bucket 1 of an index segment's terms is out of place"},
		{"a place of postings", func(s *segment) { s.terms.buckets[12]++ }, "bucket 1 of an index segment's terms is out of place"},
		{"a list of postings", func(s *segment) { s.terms.postings[0] = 0xfc; s.terms.postings[1] |= 0x7f }, "not what they should be"},
		{"the number of terms", func(s *segment) { s.terms.n++ }, "terms with"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustParse(t, slices.Clone(whole))
			c.harm(s)
			err := verifySegment(s, segmentRow{documents: int64(s.docs), bytes: int64(s.size)})
			if c.words == "" && err != nil {
				t.Errorf("%v, want no error", err)
			}
			if c.words != "" {
				wantError(t, err, provider.ErrCorrupt, c.words)
			}
		})
	}
}

// FuzzSegment reads a segment whose bytes are anything, with the checksum that
// they have and with the right one.
func FuzzSegment(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{0, 1, 3, 40, 300} {
		docs, names := someDocuments(random, n)
		body := new(segmentBuilder).build(names, docs)
		f.Add(body, "w1", uint16(3))
		for range 20 {
			if broken := slices.Clone(body); len(broken) > headerBytes {
				broken[headerBytes+random.IntN(len(broken)-headerBytes)] ^= byte(1 << random.IntN(8))
				f.Add(broken, "w4", uint16(17))
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, key string, doc uint16) {
		_, _ = openSegment(body)
		s, err := openSegment(seal(slices.Clone(body)))
		if err != nil {
			return
		}
		_, _ = s.term(key, nil)
		_, _ = s.find(key)
		_, _ = s.urls.at(int(doc), nil)
		if int(doc) < s.docs {
			_ = s.id(int(doc))
		}
		p := part{s, bitmap{0x55}}
		_ = p.statistics()
		_ = verifySegment(s, segmentRow{documents: int64(s.docs), bytes: int64(s.size), dead: p.dead})
		_, _ = mergeSegments([]part{p, p})
		index := &siteIndex{parts: []indexPart{{1, p}}, stats: p.statistics()}
		x := &searched{indexes: []*siteIndex{index, index}}
		x.hold()
		w := want(newStemmer(), queryWords(key+" w1 w4 w9 running"), x.stats)
		_, _ = x.rank(t.Context(), new(scratch), w, 10, nil)
	})
}
