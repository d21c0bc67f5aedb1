package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/provider"
)

// write puts text into a configuration file of its own directory.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func environment(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}
}

func settings(t *testing.T, e Entry) map[string]any {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal(e.Settings.JSON(), &m))
	return m
}

func TestWithoutFileTheEmbeddedStoreIsUsed(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	require.NoError(t, err)

	c, err := Load(Options{})
	require.NoError(t, err)
	require.Equal(t, Embedded, c.Retrieval.Backend)
	require.Equal(t, filepath.Join(here, DefaultData), c.Retrieval.Data)
	require.Equal(t, map[string]any{"backend": Embedded, "data": c.Retrieval.Data}, settings(t, c.Retrieval))
	require.True(t, c.ObjectStorage.Same(c.Retrieval))

	c, err = Load(Options{Data: "elsewhere", Plugin: "bin/other"})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(here, "elsewhere"), c.Retrieval.Data)
	require.Equal(t, filepath.Join(here, "bin", "other"), c.Retrieval.Plugin)

	_, err = Load(Options{Use: "other"})
	require.ErrorIs(t, err, provider.ErrInvalid)
}

func TestFilesOfNLWebAreRead(t *testing.T) {
	path := write(t, `
port: 8080
mode: development
server: {host: localhost}
generative_model: {high: {import_path: x, class_name: Y}}
something_nlweb_will_have_one_day: true
retrieval:
  default:
    import_path: siteprovider_nlweb
    class_name: Retrieval
    command: [siteprovider, plugin]
    data: store
  azure:
    import_path: nlweb_azure
    class_name: AzureSearch
    index_name: x
object_storage:
  default: {use: retrieval.default}
`)
	c, err := Load(Options{File: path})
	require.NoError(t, err)
	require.Equal(t, "retrieval.default", c.Retrieval.Name)
	require.Equal(t, filepath.Join(filepath.Dir(path), "store"), c.Retrieval.Data, "relative to the file")
	require.Equal(t, map[string]any{"backend": Embedded, "data": c.Retrieval.Data}, settings(t, c.Retrieval))
	require.True(t, c.ObjectStorage.Same(c.Retrieval))
}

func TestCommandLineWinsOverFile(t *testing.T) {
	path := write(t, "retrieval: {default: {data: a, plugin: b}}")
	dir := t.TempDir()
	c, err := Load(Options{File: path, Data: filepath.Join(dir, "d"), Plugin: filepath.Join(dir, "p")})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "d"), c.Retrieval.Data)
	require.Equal(t, filepath.Join(dir, "p"), c.Retrieval.Plugin)
}

func TestEntriesAreChosenByName(t *testing.T) {
	path := write(t, `
retrieval:
  default: {data: one}
  second: {data: two}
object_storage:
  default: {use: retrieval.second}
  second: {data: three}
`)
	dir := filepath.Dir(path)
	for use, want := range map[string][2]string{
		"":                 {"one", "two"},
		"default":          {"one", "two"},
		"second":           {"two", "three"},
		"retrieval.second": {"two", "three"},
	} {
		c, err := Load(Options{File: path, Use: use})
		require.NoError(t, err, use)
		require.Equal(t, filepath.Join(dir, want[0]), c.Retrieval.Data, use)
		require.Equal(t, filepath.Join(dir, want[1]), c.ObjectStorage.Data, use)
		require.False(t, c.ObjectStorage.Same(c.Retrieval), use)
	}
}

func TestKeysAreReadFromTheEnvironment(t *testing.T) {
	path := write(t, "retrieval:\n  default:\n    data_env: STORE_DIR\n")
	c, err := Load(Options{File: path, LookupEnv: environment(map[string]string{"STORE_DIR": "from-env"})})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(filepath.Dir(path), "from-env"), c.Retrieval.Data)
}

func TestMergedKeysGiveWayToOwnOnes(t *testing.T) {
	path := write(t, `
defaults: &d {data: merged, plugin: both}
retrieval:
  default:
    <<: *d
    data: own
`)
	c, err := Load(Options{File: path})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(filepath.Dir(path), "own"), c.Retrieval.Data)
	require.Equal(t, filepath.Join(filepath.Dir(path), "both"), c.Retrieval.Plugin)
}

func TestSettingsOfAForeignPluginPassThrough(t *testing.T) {
	path := write(t, "retrieval:\n  default:\n    backend: theirs\n    plugin: bin\n    depth: 3\n    tags: [a, b]\n    key_env: THEIR_KEY\n")
	c, err := Load(Options{File: path, LookupEnv: environment(map[string]string{"THEIR_KEY": "s3"})})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"backend": "theirs", "depth": 3.0, "tags": []any{"a", "b"}, "key": "s3"}, settings(t, c.Retrieval))
	require.Empty(t, c.Retrieval.Data)
}

func TestErrorsNameThePlaceAndTheRemedy(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		opt  Options
		line int
		want string
	}{
		"a misspelt key of an entry":   {"retrieval:\n  default:\n    dta: x\n", Options{}, 3, `unknown key "dta"; is data meant?`},
		"a key that resembles nothing": {"retrieval:\n  default:\n    colour: x\n", Options{}, 3, "the backend embedded has: backend, data"},
		"a misspelt key from the environment": {"retrieval:\n  default:\n    dta_env: NOT_SET\n",
			Options{LookupEnv: environment(nil)}, 3, `unknown key "dta_env"; is data meant?`},
		"a backend from the environment": {"retrieval:\n  default:\n    backend_env: B\n",
			Options{LookupEnv: environment(map[string]string{"B": "nope"})}, 3, `unknown backend "nope"`},
		"a misspelt section":           {"port: 1\nretreival: {default: {}}\n", Options{}, 2, "is retrieval meant?"},
		"the forerunner's TLS key":     {"retrieval:\n  default:\n    verify_ssl: false\n", Options{}, 3, "insecure_skip_verify here, with the opposite value"},
		"the forerunner's path key":    {"retrieval:\n  default:\n    database_path: x\n", Options{}, 3, "is data here"},
		"the forerunner's backend key": {"retrieval:\n  default:\n    db_type: x\n", Options{}, 3, "is backend here"},
		"a backend it does not have":   {"retrieval:\n  default:\n\n    backend: nope\n", Options{}, 4, `unknown backend "nope"; this program has: embedded`},
		"an unset variable":            {"retrieval:\n  default:\n    data_env: NOT_SET\n", Options{LookupEnv: environment(nil)}, 3, "the environment variable NOT_SET is not set"},
		"an empty variable": {"retrieval:\n  default:\n    data_env: BLANK\n",
			Options{LookupEnv: environment(map[string]string{"BLANK": ""})}, 3, "the environment variable BLANK is not set"},
		"a key and its variable":     {"retrieval:\n  default:\n    data: x\n    data_env: X\n", Options{}, 4, "both data and data_env"},
		"a key twice":                {"retrieval:\n  default:\n    data: x\n    data: y\n", Options{}, 4, "there twice, first in line 3"},
		"an entry twice":             {"retrieval:\n  default: {}\n  default: {}\n", Options{}, 3, "there twice, first in line 2"},
		"an entry that is missing":   {"retrieval:\n  other: {}\n", Options{}, 2, "no entry retrieval.default; there are: other"},
		"a section that is missing":  {"port: 1\n", Options{}, 1, "no entry retrieval.default"},
		"a named entry not there":    {"retrieval:\n  default: {}\n", Options{Use: "x"}, 2, "no entry retrieval.x; there are: default"},
		"an entry that is a list":    {"retrieval:\n  default: [a]\n", Options{}, 2, "retrieval.default: want a mapping"},
		"a section that is a text":   {"retrieval: x\n", Options{}, 1, "retrieval: want a mapping"},
		"a value that is a list":     {"retrieval:\n  default:\n    data: [x]\n", Options{}, 3, "data: want a text"},
		"a value that is missing":    {"retrieval:\n  default:\n    data:\n", Options{}, 3, "data: want a text"},
		"a blank value":              {"retrieval:\n  default:\n    data: ' '\n", Options{}, 3, "data: want a text"},
		"a checksum that is none":    {"retrieval:\n  default:\n    plugin: x\n    plugin_sha256: abc\n", Options{}, 4, "want 64 hexadecimal digits"},
		"a cache that is no number":  {"retrieval:\n  default:\n    cache_bytes: 256MB\n", Options{}, 3, "want a number of bytes, from 1048576 to 1099511627776"},
		"a cache too small":          {"retrieval:\n  default:\n    cache_bytes: 256\n", Options{}, 3, "want a number of bytes, from 1048576"},
		"a cache too large":          {"retrieval:\n  default:\n    cache_bytes: 1e30\n", Options{}, 3, "want a number of bytes, from 1048576"},
		"use beside other keys":      {"retrieval: {default: {}}\nobject_storage:\n  default:\n    use: retrieval.default\n    data: x\n", Options{}, 5, "data has no meaning beside use"},
		"use of another section":     {"retrieval: {default: {}}\nobject_storage:\n  default: {use: default}\n", Options{}, 3, `want retrieval.NAME, not "default"`},
		"use of an entry not there":  {"retrieval: {default: {}}\nobject_storage:\n  default: {use: retrieval.x}\n", Options{}, 3, "no entry retrieval.x"},
		"use in a retrieval entry":   {"retrieval:\n  default:\n    use: retrieval.x\n", Options{}, 3, `unknown key "use"`},
		"a key of a section to come": {"retrieval: {default: {}}\nserve:\n  addr: x\n", Options{}, 3, `serve: unknown key "addr"`},
		"no YAML":                    {"retrieval:\n\tdefault: x\n", Options{}, 2, "is not YAML"},
		"nothing":                    {"", Options{}, 1, "the file is empty"},
		"a list":                     {"- a\n", Options{}, 1, "want a mapping"},
		"two documents":              {"a: 1\n---\nb: 1\n", Options{}, 1, "more than one YAML document"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, tc.text)
			tc.opt.File = path
			_, err := Load(tc.opt)
			require.ErrorIs(t, err, provider.ErrInvalid)
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, fmt.Sprintf("%s:%d: ", path, tc.line))
		})
	}
}

func TestDataFlagIsRefusedForAnotherBackend(t *testing.T) {
	path := write(t, "retrieval: {default: {backend: theirs, plugin: x}}")
	_, err := Load(Options{File: path, Data: "d"})
	require.ErrorIs(t, err, provider.ErrInvalid)
	require.ErrorContains(t, err, "--data")
}

func TestAMissingFileIsWrongUsage(t *testing.T) {
	_, err := Load(Options{File: filepath.Join(t.TempDir(), "none.yaml")})
	require.ErrorIs(t, err, provider.ErrInvalid)
	require.ErrorContains(t, err, "none.yaml")
}

// A secret is put where each kind of error and each way of printing could
// repeat it.
func TestSecretsAreNeverShown(t *testing.T) {
	const secret = "sk-very-secret-0451"
	path := write(t, "retrieval:\n  default:\n    backend: theirs\n    plugin: x\n    api_key: "+secret+"\n")
	c, err := Load(Options{File: path})
	require.NoError(t, err)
	require.Contains(t, string(c.Retrieval.Settings.JSON()), secret)

	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("opening", "config", c, "settings", c.Retrieval.Settings)
	slog.New(slog.NewTextHandler(&log, nil)).Info("opening", "config", c, "settings", c.Retrieval.Settings)
	encoded, err := json.Marshal(c)
	require.NoError(t, err)
	shown := log.String() + string(encoded)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		shown += fmt.Sprintf(verb, c) + fmt.Sprintf(verb, *c) + fmt.Sprintf(verb, c.Retrieval) + fmt.Sprintf(verb, c.Retrieval.Settings)
		shown += fmt.Sprintf(verb, struct{ inner Entry }{c.Retrieval})
	}
	require.NotContains(t, shown, secret)
	require.NotContains(t, shown, fmt.Sprintf("%x", secret))
	require.NotContains(t, shown, strings.Trim(fmt.Sprint([]byte(secret)), "[]"))
	require.Contains(t, c.Retrieval.Settings.String(), "api_key", "the names of keys are no secret")

	for name, text := range map[string]string{
		"a secret that is an alias":     "retrieval:\n  default:\n    api_key: *" + secret + "\n",
		"a secret that is an anchor":    "retrieval:\n  default:\n    api_key: &" + secret + " *" + secret + "x\n",
		"a secret as a tag":             "retrieval:\n  default:\n    api_key: !" + secret + "! x\n",
		"a secret in an open quote":     "retrieval:\n  default:\n    api_key: \"" + secret + "\n",
		"a secret as a variable's name": "retrieval:\n  default:\n    data_env: " + secret + "\n",
		"a secret under a wrong key":    "retrieval:\n  default:\n    pasword: " + secret + "\n",
		"a secret in a list":            "retrieval:\n  default:\n    data: [" + secret + "]\n",
		"a secret as a checksum":        "retrieval:\n  default:\n    plugin: x\n    plugin_sha256: " + secret + "\n",
	} {
		_, err := Load(Options{File: write(t, text), LookupEnv: environment(nil)})
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), secret, name)
	}
}

func TestEveryKeyIsDescribedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys() {
		require.False(t, seen[k.Name], k.Name)
		require.NotEmpty(t, k.Doc, k.Name)
		require.False(t, strings.HasSuffix(k.Name, "_env"), k.Name)
		seen[k.Name] = true
	}
	for old := range renamed {
		require.False(t, seen[old], "%s is a key, not another spelling", old)
	}
}

// FuzzLoad wants an error or a configuration of every file, never a panic, and
// every error to say that the file is at fault.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"retrieval: {default: {data: x}}",
		"retrieval: &a {default: *a}",
		"a: &a {<<: *a}\nretrieval: {default: {<<: *a}}",
		"retrieval: {default: {<<: [{data: x}, {plugin: y}]}}",
		"? [a]\n: b\n",
		"retrieval:\n  default:\n    data: !!binary aGk=\n",
		"%YAML 1.1\n---\nretrieval: {default: {backend: theirs, plugin: p, x: {1: 2}}}",
		"object_storage: {default: {use: retrieval.default}}\nretrieval: {default: }",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(Options{File: path, LookupEnv: environment(map[string]string{"X": "y"})})
		if err != nil {
			require.ErrorIs(t, err, provider.ErrInvalid)
			return
		}
		require.True(t, json.Valid(c.Retrieval.Settings.JSON()))
	})
}
