package goodmem

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/siteprovider/siteprovider/provider"
)

const (
	idA = "01a0f262-14db-7347-849d-f9ff2bdc3b1b"
	idB = "01a0f262-14e5-7474-afa9-3a7b3286cd77"
	idC = "019cfd94-2844-7117-85ca-1b9919758a26"
)

// hostileIDs are what must not leave as an id: ways out of a path, other
// spellings of a UUID, and what a shell or an editor adds.
var hostileIDs = []string{
	"",
	"../spaces/" + idA,
	idA + "#x",
	idA + "?x=1",
	"%2e%2e/" + idA,
	"..%2F" + idA,
	" " + idA,
	idA + "\n",
	"{" + idA + "}",
	"urn:uuid:" + idA,
	strings.ReplaceAll(idA, "-", ""),
	"gm_" + strings.Repeat("x", 33), // a key in the place of an id
	"01a0f262-14db-7347-849d-f9ff2bdc3b1g",
	"01a0f262/14db-7347-849d-f9ff2bdc3b1b",
	"01a0f26214db--7347-849d-f9ff2bdc3b1b",
	"٠1a0f262-14db-7347-849d-f9ff2bdc3b1",
}

func TestOnlyTheCanonicalFormIsAnID(t *testing.T) {
	for _, id := range hostileIDs {
		got, err := checkID("space_id", id)
		if !errors.Is(err, provider.ErrInvalid) || got != "" {
			t.Errorf("checkID(%q) = %q, %v, want an invalid argument", id, got, err)
		}
	}
	for _, id := range []string{idA, strings.ToUpper(idA), "01A0f262-14dB-7347-849d-f9Ff2bdc3b1b"} {
		if got, err := checkID("space_id", id); err != nil || got != idA {
			t.Errorf("checkID(%q) = %q, %v, want %q", id, got, err, idA)
		}
	}
}

func TestARefusedIDIsNamedAndNotRepeated(t *testing.T) {
	for _, id := range hostileIDs[1:] {
		_, err := checkIDs("space_ids", []string{idA, id})
		var e *provider.Error
		if !errors.As(err, &e) || e.Arg != "space_ids[1]" {
			t.Errorf("refusal of %q is %v, want one of space_ids[1]", id, err)
		}
		if err != nil && strings.Contains(err.Error(), strings.TrimSpace(id)) {
			t.Errorf("the refusal repeats the value: %v", err)
		}
	}
}

func TestARepeatedIDIsKeptOnce(t *testing.T) {
	got, err := checkIDs("space_ids", []string{idB, idA, strings.ToUpper(idB)})
	if err != nil || len(got) != 2 || got[0] != idB || got[1] != idA {
		t.Errorf("checkIDs = %q, %v, want the two in their order", got, err)
	}
}

func TestTheMemoryIDIsThatOfTheContent(t *testing.T) {
	id := memoryID(idA, "a.example", "https://a.example/1", "h1")
	// A stored document is found again by this value: it never changes.
	if want := "01621cdb-3b52-583b-a628-be3ff395a2eb"; id != want {
		t.Errorf("memoryID = %s, want %s", id, want)
	}
	parsed, err := uuid.Parse(id)
	if err != nil || parsed.Version() != 5 {
		t.Errorf("memoryID = %s: version %d, %v, want a UUIDv5", id, parsed.Version(), err)
	}
	seen := map[string]string{id: "the first"}
	for what, other := range map[string]string{
		"another space":    memoryID(idB, "a.example", "https://a.example/1", "h1"),
		"another site":     memoryID(idA, "b.example", "https://a.example/1", "h1"),
		"another URL":      memoryID(idA, "a.example", "https://a.example/2", "h1"),
		"another content":  memoryID(idA, "a.example", "https://a.example/1", "h2"),
		"a moved boundary": memoryID(idA, "a.exampleh", "ttps://a.example/1", "h1"),
	} {
		if before, ok := seen[other]; ok {
			t.Errorf("%s has the id of %s", what, before)
		}
		seen[other] = what
	}
}
