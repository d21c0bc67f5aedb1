package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

func TestAnObjectComesBackByteForByte(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3000)
	for i := range noise {
		noise[i] = byte(rng.IntN(256))
	}
	for _, object := range [][]byte{
		nil,
		[]byte("{}"),
		[]byte(`{"@context":"https://schema.org","@type":"Article"}`),
		[]byte(" \r\n\t{ \"@type\" : \"Thing\" }\n"),
		noise,
		packWords(),
		[]byte(`{"name":"` + strings.Repeat("a", provider.MaxObjectBytes-11) + `"}`),
		bytes.Repeat(noise[:1024], 4096),
	} {
		stored := packObject(object)
		if len(stored) > len(object) {
			t.Errorf("%.40q takes %d bytes instead of %d", object, len(stored), len(object))
		}
		for _, room := range [][]byte{nil, make([]byte, 5000), make([]byte, 0, len(object))} {
			got, err := unpackObject(room, stored)
			if err != nil || !bytes.Equal(got, object) {
				t.Errorf("%.40q comes back as %.40q, %v", object, got, err)
			}
		}
	}
}

func TestAnObjectInWordsOfTheVocabularyTakesHalfTheSpace(t *testing.T) {
	object := []byte(`{"@context":"https://schema.org","@type":"Product","@id":"https://shop.example/p/1#product","url":"https://shop.example/p/1","name":"Kettle","description":"Boils water.","image":"https://shop.example/i/1.jpg","brand":{"@type":"Brand","name":"Hob"},"offers":{"@type":"Offer","price":"20.00","priceCurrency":"EUR","availability":"https://schema.org/InStock"}}`)
	if stored := packObject(object); 2*len(stored) > len(object) {
		t.Errorf("%d bytes take %d", len(object), len(stored))
	}
}

// What was stored relative to the dictionary cannot be read with another one.
func TestTheDictionaryOfObjectsNeverChanges(t *testing.T) {
	words := packWords()
	if got := fmt.Sprintf("%d bytes, %08x", len(words), crc32.Checksum(words, castagnoli)); got != "13983 bytes, 8e1876df" {
		t.Errorf("the dictionary has %s: leave packWords as it was, and give new words a mark of their own", got)
	}
	const object = `{"@context":"https://schema.org","@type":"Article","@id":"https://news.example/1","headline":"One"}`
	const stored = "016315003a106e6577732e1ac820042f31411a1100183a224f6e65227d"
	if got := fmt.Sprintf("%x", packObject([]byte(object))); got != stored {
		t.Logf("an object is packed as %s now", got) // which is no harm
	}
	var block []byte
	if _, err := fmt.Sscanf(stored, "%x", &block); err != nil {
		t.Fatal(err)
	}
	if got, err := unpackObject(nil, block); err != nil || string(got) != object {
		t.Errorf("what an earlier program stored is read as %q, %v", got, err)
	}
}

func FuzzUnpackObject(f *testing.F) {
	f.Add([]byte("{}"))
	f.Add(packObject([]byte(`{"@context":"https://schema.org","@type":"Article","name":"One"}`)))
	f.Add([]byte{packedMark})
	f.Add([]byte{packedMark, 0xff, 0xff, 0xff, 0xff, 0x0f, 1})
	f.Fuzz(func(t *testing.T, stored []byte) {
		object, err := unpackObject(nil, stored)
		if err != nil {
			if !errors.Is(err, provider.ErrCorrupt) {
				t.Errorf("error %v, want ErrCorrupt", err)
			}
			return
		}
		if len(object) > max(len(stored), provider.MaxObjectBytes) {
			t.Errorf("%d bytes", len(object))
		}
		if len(object) > 0 && object[0] == packedMark {
			return // no JSON
		}
		again, err := unpackObject(nil, packObject(object))
		if err != nil || !bytes.Equal(again, object) {
			t.Errorf("%q comes back as %q, %v", object, again, err)
		}
	})
}
