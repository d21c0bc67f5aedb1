// Package config reads the configuration file of siteprovider: YAML in the
// shape of NLWeb's, so that one file can serve an NLWeb host and this program.
// Of its top-level keys `retrieval`, `object_storage` and `serve` are ours; the
// rest is NLWeb's business and skipped.
//
//	c, err := config.Load(config.Options{File: "config.yaml"})
//	p, err := host.Open(ctx, c.Retrieval, host.Options{})
//
// Load resolves everything that depends on where it runs: paths become
// absolute, and keys that end in _env are read from the environment, so that
// the plugin process needs neither.
package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

// DefaultData is the directory of the embedded store where nothing names one:
// below the working directory, or beside the configuration file if there is one.
const DefaultData = "siteprovider-data"

// DefaultEntry is the entry that a host asks for when it names none.
const DefaultEntry = "default"

// Embedded is the name of the backend that needs no server, the default one.
const Embedded = "embedded"

// maxFileBytes keeps a file that is no configuration from filling the memory.
const maxFileBytes = 4 << 20

// Options says where a configuration comes from. Its zero value is the
// embedded backend in DefaultData.
type Options struct {
	File   string // YAML file; empty: none
	Use    string // entry to use; empty: DefaultEntry
	Data   string // directory of the embedded store, over the file's; empty: the file's
	Plugin string // executable to load, over the file's; empty: the file's

	// LookupEnv reads the environment; nil means os.LookupEnv.
	LookupEnv func(name string) (string, bool)
}

// Config is what a session of this program works with.
type Config struct {
	Retrieval     Entry // searches and writes
	ObjectStorage Entry // looks up objects; the same as Retrieval unless the file says otherwise
}

// Entry is one configured provider, ready to be opened.
type Entry struct {
	Name         string // such as "retrieval.default"
	Backend      string
	Data         string // absolute; of the embedded backend, else empty
	Plugin       string // absolute path of the executable; empty: this program
	PluginSHA256 string // hexadecimal; empty: not checked
	SHA256At     string // file:line of PluginSHA256, for errors
	Settings     Settings
}

// Same reports whether e and other stand for one provider, so that one process
// can serve both.
func (e Entry) Same(other Entry) bool {
	return e.Plugin == other.Plugin && e.PluginSHA256 == other.PluginSHA256 &&
		string(e.Settings.JSON()) == string(other.Settings.JSON())
}

// Load returns the configuration that o describes. Its errors match
// provider.ErrInvalid and name the file and the line.
func Load(o Options) (*Config, error) {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.File == "" {
		return withoutFile(o)
	}
	f, err := readFile(o.File)
	if err != nil {
		return nil, err
	}
	name := strings.TrimPrefix(o.Use, "retrieval.")
	if name == "" {
		name = DefaultEntry
	}
	r := resolver{file: f, opt: o}
	var c Config
	if c.Retrieval, err = r.retrieval(name); err != nil {
		return nil, err
	}
	if c.ObjectStorage, err = r.objectStorage(name, c.Retrieval); err != nil {
		return nil, err
	}
	return &c, nil
}

func withoutFile(o Options) (*Config, error) {
	if use := strings.TrimPrefix(o.Use, "retrieval."); use != "" && use != DefaultEntry {
		return nil, provider.Invalidf("--use", "there is no entry %q without a configuration file", o.Use)
	}
	e := Entry{Name: "retrieval." + DefaultEntry, Backend: Embedded}
	var err error
	if e.Plugin, err = absolute(".", o.Plugin); err != nil {
		return nil, err
	}
	if e.Data, err = absolute(".", orElse(o.Data, DefaultData)); err != nil {
		return nil, err
	}
	e.Settings, err = newSettings(map[string]any{"backend": e.Backend, "data": e.Data})
	if err != nil {
		return nil, err
	}
	return &Config{Retrieval: e, ObjectStorage: e}, nil
}

// Settings is what is sent to a provider to configure it. It may hold keys and
// passwords, so nothing that prints, logs or encodes it shows a value.
type Settings struct {
	// reveal keeps the bytes where no formatting verb and no encoder reaches.
	reveal func() []byte
	names  []string
}

func newSettings(values map[string]any) (Settings, error) {
	text, err := json.Marshal(values)
	if err != nil {
		return Settings{}, fmt.Errorf("encode settings: %w", err)
	}
	return Settings{reveal: func() []byte { return text }, names: sortedKeys(values)}, nil
}

// JSON returns the settings as one JSON object, secrets included.
func (s Settings) JSON() []byte {
	if s.reveal == nil {
		return []byte("{}")
	}
	return s.reveal()
}

// absolute returns path as an absolute path, relative ones taken from dir.
func absolute(dir, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("make %q absolute: %w", path, err)
	}
	if !utf8.ValidString(abs) {
		// As JSON, in the settings, it would become another path.
		return "", provider.Invalidf("path", "%q is not valid UTF-8", abs)
	}
	return abs, nil
}

func orElse(value, fallback string) string {
	if value != "" {
		return value
	}
	return fallback
}
