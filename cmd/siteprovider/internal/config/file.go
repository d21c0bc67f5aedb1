package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/siteprovider/siteprovider/provider"
)

// file is a configuration file, parsed but not yet resolved.
type file struct {
	path string // as it was given, for errors
	dir  string // what its relative paths start from
	root *yaml.Node
}

func readFile(path string) (*file, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, provider.Invalidf("--config", "%v", err)
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err != nil {
		return nil, provider.Invalidf("--config", "%v", err)
	}
	if len(text) > maxFileBytes {
		return nil, provider.Invalidf("--config", "%s is larger than %d bytes", path, maxFileBytes)
	}
	f := &file{path: path, dir: filepath.Dir(path)}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, f.errorf(1, "the file is empty")
	case err != nil:
		return nil, f.syntaxError(err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, f.errorf(doc.Line, "holds more than one YAML document")
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, f.errorf(doc.Line, "want a mapping with the keys %s", strings.Join(ownTopLevel, ", "))
	}
	f.root = doc.Content[0]
	return f, f.checkTopLevel()
}

// yamlQuotes is what the parser quotes of the file, which may be a secret.
var yamlQuotes = regexp.MustCompile("'[^']*'|`[^`]*`|\"[^\"]*\"")

var yamlErrorLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxError puts the parser's line number where ours are.
func (f *file) syntaxError(err error) error {
	msg := err.Error()
	m := yamlErrorLine.FindStringSubmatch(msg)
	line := 1
	if m != nil {
		msg = msg[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	return f.errorf(line, "is not YAML: %s", yamlQuotes.ReplaceAllString(msg, "'…'"))
}

// checkTopLevel reports a key of ours that is misspelt. All other keys belong
// to NLWeb, also those it will have one day.
func (f *file) checkTopLevel() error {
	fields, err := f.fields(f.root, "")
	if err != nil {
		return err
	}
	for _, fd := range fields {
		if slices.Contains(ownTopLevel, fd.key) || slices.Contains(otherTopLevel, fd.key) {
			continue
		}
		if near := nearest(fd.key, ownTopLevel); near != "" {
			return f.errorf(fd.line, "unknown key %q; is %s meant?", fd.key, near)
		}
	}
	serve, ok := find(fields, "serve")
	if !ok {
		return nil
	}
	serveFields, err := f.fields(serve.value, "serve")
	if err != nil {
		return err
	}
	if len(serveFields) > 0 {
		return f.errorf(serveFields[0].line, "serve: unknown key %q; this version has no keys here", serveFields[0].key)
	}
	return nil
}

// section returns the entries below a top-level key.
func (f *file) section(name string) ([]field, error) {
	fields, err := f.fields(f.root, "")
	if err != nil {
		return nil, err
	}
	s, ok := find(fields, name)
	if !ok {
		return nil, nil
	}
	return f.fields(s.value, name)
}

// field is one key of a mapping and its value.
type field struct {
	key   string
	line  int
	value *yaml.Node
}

// fields returns the keys of a mapping in the order of the file. A key that is
// there twice is an error, since either value could be the one that was meant.
// Keys merged in with `<<` come last and give way to the mapping's own.
func (f *file) fields(n *yaml.Node, name string) ([]field, error) {
	n = target(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, f.errorf(n.Line, "%s: want a mapping", name)
	}
	var own, merged []field
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Tag == "!!merge" {
			more, err := f.mergedFields(v, name)
			if err != nil {
				return nil, err
			}
			merged = append(merged, more...)
			continue
		}
		if k.Kind != yaml.ScalarNode {
			return nil, f.errorf(k.Line, "%s: a key must be a word", name)
		}
		if first, ok := find(own, k.Value); ok {
			return nil, f.errorf(k.Line, "the key %q is there twice, first in line %d", k.Value, first.line)
		}
		own = append(own, field{key: k.Value, line: k.Line, value: v})
	}
	for _, m := range merged {
		if _, ok := find(own, m.key); !ok {
			own = append(own, m)
		}
	}
	return own, nil
}

// mergedFields returns the keys that `<<` takes from one mapping or several.
// A mapping that merges another in turn is refused: nobody writes that in a
// file of this size, and without it no chain of aliases can grow.
func (f *file) mergedFields(v *yaml.Node, name string) ([]field, error) {
	sources := []*yaml.Node{v}
	if t := target(v); t.Kind == yaml.SequenceNode {
		sources = t.Content
	}
	var out []field
	for _, s := range sources {
		m := target(s)
		if m.Kind != yaml.MappingNode {
			return nil, f.errorf(v.Line, "%s: << takes a mapping", name)
		}
		for i := 0; i+1 < len(m.Content); i += 2 {
			if m.Content[i].Tag == "!!merge" {
				return nil, f.errorf(v.Line, "%s: << of a mapping that has << itself", name)
			}
			out = append(out, field{key: m.Content[i].Value, line: m.Content[i].Line, value: m.Content[i+1]})
		}
	}
	return out, nil
}

// errorf returns an error about a line of the file.
func (f *file) errorf(line int, format string, args ...any) error {
	return &provider.Error{
		Kind:   provider.ErrInvalid,
		Arg:    f.at(line),
		Reason: fmt.Sprintf(format, args...),
	}
}

// at names a line of the file.
func (f *file) at(line int) string { return fmt.Sprintf("%s:%d", f.path, max(line, 1)) }

func find(fields []field, key string) (field, bool) {
	i := slices.IndexFunc(fields, func(fd field) bool { return fd.key == key })
	if i < 0 {
		return field{}, false
	}
	return fields[i], true
}

// target returns the node that an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
