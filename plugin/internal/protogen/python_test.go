package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The Python bridge speaks the wire that the .proto describes now.
func TestPythonDescriptorIsUpToDate(t *testing.T) {
	request, err := compile(t.Context(), filepath.Join("..", "..", "proto"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := pythonDescriptor(request.ProtoFile)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "python", "siteprovider_nlweb", "_descriptor.py")
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what go generate ./plugin/internal/protogen makes", path)
	}
}
