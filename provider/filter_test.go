package provider_test

import (
	"errors"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

func TestParseDecimal(t *testing.T) {
	for in, want := range map[string]float64{"0": 0, "19.90": 19.9, "-3": -3, "007": 7, "-0.5": -0.5, "12345678901234567890": 12345678901234567890} {
		if got, ok := provider.ParseDecimal(in); !ok || got != want {
			t.Errorf("ParseDecimal(%q) = %v, %v; want %v", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "-", ".5", "5.", "1e3", "1,000", " 5", "5 ", "+5", "0x10", "Inf", "NaN", "1_000", "٣", "--1", "1.2.3"} {
		if got, ok := provider.ParseDecimal(in); ok {
			t.Errorf("ParseDecimal(%q) = %v, want it refused", in, got)
		}
	}
}

func TestParseDate(t *testing.T) {
	utc := func(h, m, s, ns int) time.Time { return time.Date(2026, 9, 1, h, m, s, ns, time.UTC) }
	day, month := utc(0, 0, 0, 0).AddDate(0, 0, 1), utc(0, 0, 0, 0).AddDate(0, 1, 0)
	for _, tt := range []struct {
		in          string
		from, until time.Time
	}{
		{"2026-09", utc(0, 0, 0, 0), month},
		{"2026-09-01", utc(0, 0, 0, 0), day},
		{"2026-09-01T08:30", utc(8, 30, 0, 0), utc(8, 30, 0, 0)},
		{"2026-09-01T08:30:15", utc(8, 30, 15, 0), utc(8, 30, 15, 0)},
		{"2026-09-01T08:30:15.25Z", utc(8, 30, 15, 250e6), utc(8, 30, 15, 250e6)},
		{"2026-09-01T08:30:15+02:00", utc(6, 30, 15, 0), utc(6, 30, 15, 0)},
		{"2026-09-01T08:30:15-0130", utc(10, 0, 15, 0), utc(10, 0, 15, 0)},
		{"2026-09-01T08:30Z", utc(8, 30, 0, 0), utc(8, 30, 0, 0)},
		{"2026-09-01 08:30:15", utc(8, 30, 15, 0), utc(8, 30, 15, 0)},
	} {
		from, until, ok := provider.ParseDate(tt.in)
		if !ok || !from.Equal(tt.from) || !until.Equal(tt.until) {
			t.Errorf("ParseDate(%q) = %v to %v, %v; want %v to %v", tt.in, from, until, ok, tt.from, tt.until)
		}
	}
	for _, in := range []string{"", "2026", "2026-13", "2026-13-01", "2026-02-30", "01.09.2026", "2026-09-01T", "2026-09-01T25:00", "20260901", "tomorrow", "2026-9-1", "2026-9"} {
		if from, _, ok := provider.ParseDate(in); ok {
			t.Errorf("ParseDate(%q) = %v, want it refused", in, from)
		}
	}
}

func TestFilterCheckGivesCanonicalValues(t *testing.T) {
	in := provider.Filter{
		{Path: "a", Op: provider.Equal, Value: 5},
		{Path: "a", Op: provider.Less, Value: "5.50"},
		{Path: "a", Op: provider.Less, Value: "2026-01-01"},
		{Path: "a", Op: provider.In, Value: []string{"x", "y"}},
		{Path: "a", Op: provider.Exists},
	}
	out, err := in.Check("f")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []any{5.0, 5.5, "2026-01-01"} {
		if out[i].Value != want {
			t.Errorf("value %d is %#v, want %#v", i, out[i].Value, want)
		}
	}
	if list, ok := out[3].Value.([]any); !ok || len(list) != 2 || list[1] != "y" {
		t.Errorf("the list is %#v, want two texts", out[3].Value)
	}
	if in[0].Value != 5 {
		t.Errorf("Check changed the caller's filter to %#v", in[0].Value)
	}
}

func TestErrorsNameKindArgumentAndReason(t *testing.T) {
	err := provider.Invalidf("Query.Limit", "%d is negative", -1)
	if want := "invalid argument: Query.Limit: -1 is negative"; err.Error() != want {
		t.Errorf("Error() = %q, want %q", err, want)
	}
	if !errors.Is(err, provider.ErrInvalid) || errors.Is(err, provider.ErrUnavailable) {
		t.Errorf("%v matches the wrong kinds", err)
	}
	if got := (&provider.Error{}).Error(); got == "" {
		t.Error("an empty Error says nothing")
	}
}

func TestHashTellsFieldsApart(t *testing.T) {
	docs := []provider.Document{
		{Schema: []byte(`{}`)},
		{Schema: []byte(`{} `)},
		{Schema: []byte(`{}`), Name: "a"},
		{Schema: []byte(`{}`), Text: "a"},
		{Schema: []byte(`{}`), Language: "a"},
		{Schema: []byte(`{}`), Types: []string{"a"}},
		{Schema: []byte(`{}`), Types: []string{"a", ""}},
		{Schema: []byte(`{}`), Types: []string{"", "a"}},
	}
	seen := make(map[string]int)
	for i, d := range docs {
		if j, ok := seen[d.Hash()]; ok {
			t.Errorf("documents %d and %d have one hash", j, i)
		}
		seen[d.Hash()] = i
		d.URL, d.Site = "u", "s"
		if seen[d.Hash()] != i {
			t.Errorf("the hash of document %d depends on its identity", i)
		}
	}
}
