package config

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/siteprovider/siteprovider/provider"
)

// resolver turns entries of a file into what can be opened.
type resolver struct {
	file *file
	opt  Options
}

func (r resolver) retrieval(name string) (Entry, error) {
	entries, err := r.file.section("retrieval")
	if err != nil {
		return Entry{}, err
	}
	fd, ok := find(entries, name)
	if !ok {
		return Entry{}, r.missing("retrieval", name, entries)
	}
	return r.entry("retrieval."+name, fd)
}

// objectStorage returns the entry that looks objects up: object_storage.NAME,
// or the retrieval entry where the file has none of that name.
func (r resolver) objectStorage(name string, retrieval Entry) (Entry, error) {
	entries, err := r.file.section("object_storage")
	if err != nil {
		return Entry{}, err
	}
	fd, ok := find(entries, name)
	if !ok {
		return retrieval, nil
	}
	full := "object_storage." + name
	fields, err := r.file.fields(fd.value, full)
	if err != nil {
		return Entry{}, err
	}
	use, ok := find(fields, "use")
	if !ok {
		return r.entry(full, fd)
	}
	for _, other := range fields {
		if other.key != "use" && !slices.Contains(hostKeys, other.key) {
			return Entry{}, r.file.errorf(other.line, "%s: %s has no meaning beside use", full, other.key)
		}
	}
	to, err := r.text(full, use)
	if err != nil {
		return Entry{}, err
	}
	other, ok := strings.CutPrefix(to, "retrieval.")
	if !ok {
		return Entry{}, r.file.errorf(use.line, "%s: use: want retrieval.NAME, not %q", full, to)
	}
	if other == name {
		return retrieval, nil
	}
	e, err := r.retrieval(other)
	if err != nil {
		return Entry{}, r.file.errorf(use.line, "%s: use: %v", full, err)
	}
	return e, nil
}

func (r resolver) missing(section, name string, entries []field) error {
	if len(entries) == 0 {
		return r.file.errorf(1, "no entry %s.%s", section, name)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.key)
	}
	return r.file.errorf(entries[0].line, "no entry %s.%s; there are: %s", section, name, strings.Join(names, ", "))
}

var sha256Text = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

// entry resolves one entry. Its keys are checked against the backend's own,
// unless a backend that this program does not have is served by a plugin of
// somebody else's, who alone knows them.
func (r resolver) entry(name string, fd field) (Entry, error) {
	fields, err := r.file.fields(fd.value, name)
	if err != nil {
		return Entry{}, err
	}
	fields = slices.DeleteFunc(fields, func(f field) bool { return slices.Contains(hostKeys, f.key) })
	e := Entry{Name: name}
	if e.Backend, err = r.backend(name, fields); err != nil {
		return Entry{}, err
	}
	// Keys are checked before variables are read: of a wrong key, it does not
	// matter whether its variable is set.
	foreign := !slices.Contains(Backends(), e.Backend)
	if !foreign {
		if err := r.checkKeys(name, e.Backend, fields); err != nil {
			return Entry{}, err
		}
	}
	if fields, err = r.resolveEnv(name, fields); err != nil {
		return Entry{}, err
	}

	values := map[string]any{"backend": e.Backend}
	for _, f := range fields {
		switch {
		case f.key == "backend":
		case f.key == "plugin":
			e.Plugin, err = r.path(name, f)
		case f.key == "plugin_sha256":
			e.PluginSHA256, err = r.text(name, f)
			e.SHA256At = r.file.at(f.line)
			if err == nil && !sha256Text.MatchString(e.PluginSHA256) {
				err = r.file.errorf(f.line, "%s: plugin_sha256: want 64 hexadecimal digits", name)
			}
		case foreign:
			values[f.key], err = r.any(name, f)
		case keyNamed(f.key).Bytes:
			values[f.key], err = r.bytes(name, f)
		case keyNamed(f.key).Path:
			values[f.key], err = r.path(name, f)
		default:
			values[f.key], err = r.text(name, f)
		}
		if err != nil {
			return Entry{}, err
		}
	}
	return r.finish(e, values)
}

// finish applies what the command line says over the file, and the defaults.
func (r resolver) finish(e Entry, values map[string]any) (Entry, error) {
	var err error
	if r.opt.Plugin != "" {
		if e.Plugin, err = absolute(".", r.opt.Plugin); err != nil {
			return Entry{}, err
		}
	}
	if e.PluginSHA256 != "" && e.Plugin == "" {
		return Entry{}, provider.Invalidf(e.SHA256At, "%s: plugin_sha256 needs a plugin", e.Name)
	}
	switch {
	case e.Backend != Embedded && r.opt.Data != "":
		return Entry{}, provider.Invalidf("--data", "is for the backend %s, but %s has the backend %s", Embedded, e.Name, e.Backend)
	case e.Backend == Embedded:
		if r.opt.Data != "" {
			values["data"], err = absolute(".", r.opt.Data)
		} else if values["data"] == nil {
			values["data"], err = absolute(r.file.dir, DefaultData)
		}
		if err != nil {
			return Entry{}, err
		}
		e.Data, _ = values["data"].(string)
	}
	e.Settings, err = newSettings(values)
	return e, err
}

// resolveEnv replaces every KEY_env by KEY with the value of the variable.
func (r resolver) resolveEnv(name string, fields []field) ([]field, error) {
	out := make([]field, 0, len(fields))
	for _, f := range fields {
		key, isEnv := strings.CutSuffix(f.key, "_env")
		if !isEnv {
			out = append(out, f)
			continue
		}
		if _, both := find(fields, key); both {
			return nil, r.file.errorf(f.line, "%s: both %s and %s are set", name, key, f.key)
		}
		variable, err := r.text(name, f)
		if err != nil {
			return nil, err
		}
		value, ok := r.opt.LookupEnv(variable)
		if !ok || value == "" {
			return nil, r.file.errorf(f.line, "%s: %s: %s is not set", name, f.key, describeVariable(variable))
		}
		out = append(out, field{key: key, line: f.line, value: &yaml.Node{
			Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: f.line,
		}})
	}
	return out, nil
}

var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// describeVariable names an environment variable in an error, unless the name
// looks like what somebody pastes there by mistake: the secret itself.
func describeVariable(name string) string {
	if variableName.MatchString(name) {
		return "the environment variable " + name
	}
	return "the environment variable that it names (not shown, it does not look like one)"
}

// backend returns the backend of an entry, which must be one of this program
// unless a plugin of somebody else's serves it.
func (r resolver) backend(name string, fields []field) (string, error) {
	at := slices.IndexFunc(fields, func(f field) bool { return f.key == "backend" || f.key == "backend_env" })
	if at < 0 {
		return Embedded, nil
	}
	resolved, err := r.resolveEnv(name, fields[at:at+1])
	if err != nil {
		return "", err
	}
	backend, err := r.text(name, resolved[0])
	if err != nil {
		return "", err
	}
	plugged := slices.ContainsFunc(fields, func(f field) bool { return f.key == "plugin" || f.key == "plugin_env" })
	if !slices.Contains(Backends(), backend) && !plugged && r.opt.Plugin == "" {
		return "", r.file.errorf(fields[at].line, "%s: unknown backend %q; this program has: %s", name, backend, strings.Join(Backends(), ", "))
	}
	return backend, nil
}

// checkKeys reports the first key that the backend does not have.
func (r resolver) checkKeys(name, backend string, fields []field) error {
	keys := keysFor(backend)
	for _, f := range fields {
		key := strings.TrimSuffix(f.key, "_env")
		if slices.Contains(keys, key) {
			continue
		}
		if hint, ok := renamed[key]; ok {
			return r.file.errorf(f.line, "%s: unknown key %q; %s", name, f.key, hint)
		}
		if near := nearest(key, keys); near != "" {
			return r.file.errorf(f.line, "%s: unknown key %q; is %s meant?", name, f.key, near)
		}
		return r.file.errorf(f.line, "%s: unknown key %q; the backend %s has: %s", name, f.key, backend, strings.Join(keys, ", "))
	}
	return nil
}

// text returns a value that is one word or line. The error does not repeat the
// value, which may be a secret in the wrong place.
func (r resolver) text(name string, f field) (string, error) {
	v := target(f.value)
	if v.Kind != yaml.ScalarNode || v.Tag == "!!null" || strings.TrimSpace(v.Value) == "" {
		return "", r.file.errorf(f.line, "%s: %s: want a text", name, f.key)
	}
	return v.Value, nil
}

func (r resolver) bytes(name string, f field) (int64, error) {
	s, err := r.text(name, f)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
	if err != nil || n < MinCacheBytes || n > MaxCacheBytes {
		return 0, r.file.errorf(f.line, "%s: %s: want a number of bytes, from %d to %d", name, f.key, MinCacheBytes, int64(MaxCacheBytes))
	}
	return n, nil
}

func (r resolver) path(name string, f field) (string, error) {
	s, err := r.text(name, f)
	if err != nil {
		return "", err
	}
	return absolute(r.file.dir, filepath.FromSlash(s))
}

// any returns a value of any shape that JSON can express.
func (r resolver) any(name string, f field) (any, error) {
	var v any
	if err := f.value.Decode(&v); err != nil {
		return nil, r.file.errorf(f.line, "%s: %s: the value cannot be read", name, f.key)
	}
	if _, err := json.Marshal(v); err != nil {
		return nil, r.file.errorf(f.line, "%s: %s: the value has no form in JSON", name, f.key)
	}
	return v, nil
}
