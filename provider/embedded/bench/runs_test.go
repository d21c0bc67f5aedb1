package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestRunsAreDocumentsSitesAndQueries(t *testing.T) {
	got, err := parseConfigurations(" 64000x58, 0x0:7,", true)
	want := []configuration{{64000, 58, 500, true}, {0, 0, 7, true}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for i, want := range []string{"64,000 documents, 58 sites", "the file's documents, its own sites"} {
		if got := got[i].String(); got != want {
			t.Errorf("its heading is %q, want %q", got, want)
		}
	}
}

func TestTheListOfAllRunsIsWhatTheReadmeSays(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{allRuns, allAlone} {
		if _, err := parseConfigurations(list, false); err != nil {
			t.Error(err)
		}
		if !strings.Contains(string(readme), list) {
			t.Errorf("README.md does not say %s", list)
		}
	}
}

// A run that fails is in the document, and those after it are run.
func TestARunThatFailsIsReported(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tables.md")
	args := []string{"-docs", writeDocuments(t, 10), "-engines", "embedded", "-runs", "10x1:1,10x3:1", "-opens", "1", "-dir", filepath.Join(t.TempDir(), "absent"), "-o", file}
	if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
		t.Error("no error")
	}
	document, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(document), "\nFailed: "); n != 2 {
		t.Errorf("%d runs are said to have failed, want both:\n%s", n, document)
	}
}

func TestWrongSettingsAreRefused(t *testing.T) {
	docs := writeDocuments(t, 10)
	for _, args := range [][]string{
		{"-runs", "10x1"},
		{"-docs", docs},
		{"-docs", docs, "-runs", "10x1", "-engines", "embedded,lucene"},
		{"-docs", docs, "-runs", "10x1", "-engines", "bleve,bleve"},
		{"-docs", docs, "-runs", "10x1", "-batch", "1001"},
		{"-docs", docs, "-runs", "10x1:0"},
		{"-docs", docs, "-runs", "10x-1"},
		{"-docs", docs, "-runs", "10"},
		{"-docs", docs, "-alone", "tenx1"},
		{"-docs", docs, "-runs", "10x1", "more"},
		{"-docs", docs + ".absent", "-runs", "10x1"},
	} {
		if err := run(context.Background(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
