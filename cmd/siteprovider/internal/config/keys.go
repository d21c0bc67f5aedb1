package config

import "slices"

// Key is a key that an entry of `retrieval` or `object_storage` may have. Any
// of them can be written as KEY_env instead, with the name of an environment
// variable that holds the value.
type Key struct {
	Name    string
	Backend string // the backend it is for; empty: any
	Path    bool   // a path, relative to the configuration file
	Bytes   bool   // a number of bytes, from MinCacheBytes to MaxCacheBytes
	Doc     string // one line for a person
}

// Keys returns every key of an entry, in the order in which a person meets them.
func Keys() []Key {
	return []Key{
		{Name: "backend", Doc: "what keeps the documents: `embedded` (the default)"},
		{Name: "data", Backend: Embedded, Path: true, Doc: "directory of the store; `" + DefaultData + "` when absent; `--data` wins"},
		{Name: "cache_bytes", Backend: Embedded, Bytes: true, Doc: "memory for the index, in bytes, from 1048576 (1 MiB) to 1099511627776 (1 TiB); 335544320 (320 MiB) when absent"},
		{Name: "plugin", Path: true, Doc: "executable to load as the provider; siteprovider itself when absent; `--plugin` wins"},
		{Name: "plugin_sha256", Doc: "SHA-256 that executable must have, in hexadecimal"},
		{Name: "use", Doc: "in `object_storage` only, and alone: the `retrieval.NAME` to look objects up in"},
	}
}

// The bounds of cache_bytes.
const (
	MinCacheBytes = 1 << 20
	MaxCacheBytes = 1 << 40
)

// Backends returns the names of the backends that this program has.
func Backends() []string { return []string{Embedded} }

// hostKeys are read by NLWeb's own loader and by the bridge, in our entries too.
var hostKeys = []string{"import_path", "class_name", "command", "timeout"}

// otherTopLevel are NLWeb's top-level keys. Only a key that is none of these
// can be one of ours misspelt.
var otherTopLevel = []string{
	"api_keys", "conversation_storage", "embedding", "generative_model", "mode",
	"nlweb_gateway", "port", "ranking_config", "scoring_model", "server",
	"site_config", "sites",
}

var ownTopLevel = []string{"retrieval", "object_storage", "serve"}

// renamed maps a key of a Python package that does the same work to what to
// write here.
var renamed = map[string]string{
	"db_type":       "NLWeb's db_type is backend here",
	"database_path": "NLWeb's database_path is data here",
	"verify_ssl":    "goodmem-nlweb's verify_ssl is insecure_skip_verify here, with the opposite value, and belongs to the backend goodmem",
}

// keysFor returns the names of the keys that an entry of the backend may have.
func keysFor(backend string) []string {
	var names []string
	for _, k := range Keys() {
		if k.Name != "use" && (k.Backend == "" || k.Backend == backend) {
			names = append(names, k.Name)
		}
	}
	return names
}

// keyNamed returns the key with a name; one without properties where there is
// none.
func keyNamed(name string) Key {
	keys := Keys()
	if i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name }); i >= 0 {
		return keys[i]
	}
	return Key{Name: name}
}

// nearest returns the one of names that word is most likely a misspelling of,
// or "": one wrong letter in four is a slip, more is another word.
func nearest(word string, names []string) string {
	best, bestDistance := "", max(1, len(word)/4)+1
	for _, name := range names {
		if d := editDistance(word, name); d < bestDistance {
			best, bestDistance = name, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements of bytes that
// turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
