package embedded

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// somePostings returns n postings of documents below limit, and the lengths of
// all documents.
func somePostings(random *rand.Rand, n, limit int) ([]posting, fieldLengths) {
	var lengths fieldLengths
	for range limit {
		lengths.names = append(lengths.names, byte(random.IntN(30)))
		lengths.texts = append(lengths.texts, byte(random.IntN(200)))
	}
	docs := random.Perm(limit)[:n]
	slices.Sort(docs)
	var list []posting
	for _, doc := range docs {
		p := posting{doc: uint32(doc), text: 1}
		switch random.IntN(5) {
		case 0:
			p.text += uint32(random.IntN(5))
		case 1:
			p.name = 1
		case 2:
			p.name, p.text = uint32(1+random.IntN(3)), uint32(random.IntN(1<<random.IntN(20)))
		}
		list = append(list, p)
	}
	return list, lengths
}

// listOf returns list as a dictionary has it.
func listOf(list []posting, lengths fieldLengths) postingList {
	if len(list) == 1 {
		return postingList{1, appendPosting(nil, -1, list[0])}
	}
	return postingList{len(list), appendPostings(nil, list, lengths)}
}

func TestPostingsAreReadAsTheyWereWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	for _, n := range []int{1, 2, 3, 127, 128, 129, 255, 256, 257, 1000} {
		for _, limit := range []int{n, n + 1, 3 * n, 1000 * n} {
			t.Run(fmt.Sprintf("%d of %d documents", n, limit), func(t *testing.T) {
				list, lengths := somePostings(random, n, limit)
				written := listOf(list, lengths)
				got, err := written.appendTo(nil, limit)
				if err != nil || !slices.Equal(got, list) {
					t.Fatalf("read %v, %v; want %v", got, err, list)
				}
				if _, err := written.appendTo(nil, int(list[n-1].doc)); err == nil {
					t.Error("a document that the segment does not have is no error")
				}
				checkLiving(t, random, written, list, limit)
				checkSeek(t, random, written, list, limit)
				checkMost(t, random, written, list, lengths)
			})
		}
	}
}

func checkLiving(t *testing.T, random *rand.Rand, written postingList, list []posting, limit int) {
	t.Helper()
	for range 5 {
		var dead bitmap
		want := len(list)
		for range random.IntN(10) {
			doc := random.IntN(limit)
			if random.IntN(2) == 0 {
				doc = int(list[random.IntN(len(list))].doc)
			}
			if !dead.has(doc) && slices.ContainsFunc(list, func(p posting) bool { return int(p.doc) == doc }) {
				want--
			}
			dead = dead.with(doc, limit)
		}
		if got, err := written.living(dead, new(postingReader), limit); err != nil || got != want {
			t.Fatalf("%d living documents, %v; want %d", got, err, want)
		}
	}
}

func checkSeek(t *testing.T, random *rand.Rand, written postingList, list []posting, limit int) {
	t.Helper()
	var r postingReader
	if err := r.read(written, limit); err != nil {
		t.Fatal(err)
	}
	for doc := 0; doc < limit; doc += 1 + random.IntN(1+limit/7) {
		if err := r.seek(uint32(doc)); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(p posting) bool { return int(p.doc) >= doc })
		switch {
		case i < 0 && r.at < r.n:
			t.Fatalf("seek(%d) is at %d, want no document", doc, r.docs[r.at])
		case i >= 0 && (r.at >= r.n || r.docs[r.at] != list[i].doc || r.texts[r.at] != list[i].text):
			t.Fatalf("seek(%d) is not at %d, the next document", doc, list[i].doc)
		}
	}
}

// checkMost compares the bounds of blocks with what their documents count, for
// any mean lengths.
func checkMost(t *testing.T, random *rand.Rand, written postingList, list []posting, lengths fieldLengths) {
	t.Helper()
	for range 5 {
		var n norms
		n.set(&statistics{documents: 10, nameWords: int64(random.IntN(1000)), textWords: int64(random.IntN(100_000))})
		var r postingReader
		if err := r.read(written, len(lengths.names)); err != nil {
			t.Fatal(err)
		}
		for from := uint32(0); int(from) < len(lengths.names); {
			to := from + 1 + uint32(random.IntN(len(lengths.names)))
			if err := r.seek(from); err != nil {
				t.Fatal(err)
			}
			most := r.most(from, to, &n)
			for _, p := range list {
				if a := amount(1, p.name, p.text, n.name[lengths.names[p.doc]], n.text[lengths.texts[p.doc]]); p.doc >= from && p.doc < to && a > most {
					t.Fatalf("%+v counts %g, more than the %g that documents %d to %d are said to count at most", p, a, most, from, to)
				}
			}
			from = to
		}
	}
}
