package embedded

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestKnownWordsAreRememberedOrForgottenButNeverMistaken(t *testing.T) {
	// Short words are told apart by their bytes and their length; these are
	// alike in one or the other.
	var words []string
	for n := 1; n <= 20; n++ {
		for i := range n {
			words = append(words, strings.Repeat("a", i)+"b"+strings.Repeat("a", n-i-1))
		}
		words = append(words, strings.Repeat("a", n), strings.Repeat("\x00", n), strings.Repeat("ab", n), strings.Repeat("é", n))
	}
	slices.Sort(words)
	words = slices.Compact(words)
	type key struct {
		word string
		key  wordKey
	}
	want := make(map[key]termIDs)
	var k knownWords
	for i, w := range words {
		for _, l := range []language{noLanguage, english, hindi} {
			for _, kind := range []tokenKind{word, code, gram} {
				terms := termIDs{n: 2, ids: [maxWordTerms]uint32{uint32(i), uint32(len(want))}}
				k.add(w, keyOf(l, kind), terms)
				want[key{w, keyOf(l, kind)}] = terms
			}
		}
	}
	found := 0
	for w, terms := range want {
		got, ok := k.find(w.word, w.key)
		if ok && got != terms {
			t.Fatalf("the terms of %q are %v, want %v", w.word, got, terms)
		}
		if ok {
			found++
		}
	}
	if found < len(want)*9/10 {
		t.Errorf("%d of %d words are remembered, want nearly all", found, len(want))
	}
	for _, w := range []string{"c", "ac", "aaaaaaaaaaaaaaaac"} {
		if got, ok := k.find(w, keyOf(english, word)); ok {
			t.Errorf("%q is known, with %v", w, got)
		}
	}
}

func TestKnownWordsAreBounded(t *testing.T) {
	var k knownWords
	for i := range maxKnown + maxKnown/2 {
		k.add(fmt.Sprint(i), 0, termIDs{})
		k.add(fmt.Sprintf("a word of many letters %d", i%(2*maxKnownLong)), 0, termIDs{})
	}
	if len(k.slots) > maxKnown || len(k.long) > maxKnownLong {
		t.Errorf("%d slots and %d long words, want at most %d and %d", len(k.slots), len(k.long), maxKnown, maxKnownLong)
	}
}

func TestTermsKeepTheirNumbers(t *testing.T) {
	x := newLexicon()
	var group sync.WaitGroup
	numbers := make([]map[string]uint32, 4)
	for g := range numbers {
		numbers[g] = make(map[string]uint32)
		random := rand.New(rand.NewPCG(uint64(g), 1))
		group.Go(func() {
			for range 20_000 {
				term := strings.Repeat("t", random.IntN(3)) + fmt.Sprint(random.IntN(9000))
				id := x.id(term)
				if before, ok := numbers[g][term]; ok && before != id {
					t.Errorf("%q has the numbers %d and %d", term, before, id)
					return
				}
				numbers[g][term] = id
			}
		})
	}
	group.Wait()
	names := x.terms()
	seen := make(map[string]bool)
	for _, name := range names {
		if seen[name] {
			t.Errorf("%q has two numbers", name)
		}
		seen[name] = true
	}
	for _, list := range numbers {
		for term, id := range list {
			if names[id] != term {
				t.Fatalf("the number %d of %q is of %q", id, term, names[id])
			}
		}
	}
}
