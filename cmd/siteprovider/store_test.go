package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider/embedded"
	_ "modernc.org/sqlite" // to change stores behind their back
)

// harm changes the store of kitchen(t) in a way that no program of ours would.
func harm(t *testing.T, dir, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "siteprovider-data", "siteprovider.db"))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(query)
	require.NoError(t, err)
}

func TestStoreCheckNamesDamageAndWhatMendsIt(t *testing.T) {
	const soupRow = " WHERE url = 'https://kitchen.example/soup'"
	for _, c := range []struct {
		name, damage string
		status       int
		words        []string
	}{
		{"none", "", exitDone, []string{"3 documents on 2 sites, 2 index segments: no damage\n"}},
		{"index", "UPDATE chunk SET data = substr(data, 1, 60) || x'ffff' || substr(data, 63) WHERE segment = 1", exitFault,
			[]string{`damaged: site "kitchen.example": index segment 1: `, "checksum", "2 index segments: 1 problem\n", "siteprovider store reindex --all\n"}},
		{"count", "UPDATE site SET documents = 9 WHERE id = 1", exitFault,
			[]string{`site "kitchen.example": it is said to have 9 documents, and has 2`, "reindex --all"}},
		{"object", "UPDATE document SET schema = x'7b7d'" + soupRow, exitFault,
			[]string{`document https://kitchen.example/soup: its object`, "wrong checksum", "delete them and ingest them again"}},
		{"site", "DELETE FROM site WHERE id = 2", exitFault,
			[]string{"documents of no site: 1", "put a backup there"}},
		{"older rules", "UPDATE document SET version = version - 1, crc = crc & 0xffffffff" + soupRow, exitDone,
			[]string{"no damage\n", "to bring 1 document of an older version up to date: siteprovider store reindex\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := kitchen(t)
			if c.damage != "" {
				harm(t, dir, c.damage)
			}
			o := siteprovider(t, dir, "", "store", "check")
			require.Equal(t, c.status, o.status, o)
			require.Empty(t, o.stderr)
			for _, w := range c.words {
				require.Contains(t, o.stdout, w)
			}
			j := siteprovider(t, dir, "", "store", "check", "--json")
			require.Equal(t, c.status, j.status, j)
			require.True(t, gjson.Valid(j.stdout), j.stdout)
			require.Equal(t, int64(strings.Count(o.stdout, "damaged: ")), gjson.Get(j.stdout, "problems.#").Int(), j.stdout)
			if c.status == exitDone || strings.Contains(o.stdout, "ingest them again") || strings.Contains(o.stdout, "a backup") {
				return
			}
			must(t, dir, "", "store", "reindex", "--all")
			require.Contains(t, must(t, dir, "", "store", "check").stdout, "no damage\n")
		})
	}
}

func TestABackupIsRestoredByCopyingIt(t *testing.T) {
	dir := kitchen(t)
	o := must(t, dir, "", "store", "backup", "saved.db")
	require.Regexp(t, `^3 documents on 2 sites, \d+\.\d kB: saved\.db\n$`, o.stdout)
	info, err := os.Stat(filepath.Join(dir, "saved.db"))
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	must(t, dir, "", "delete", "--site", "kitchen.example")

	o = siteprovider(t, dir, "", "store", "backup", "saved.db")
	require.Equal(t, outcome{exitUsage, "", "siteprovider: saved.db is there already; --force replaces it\n"}, o)
	restored := filepath.Join(dir, "restored")
	require.NoError(t, os.Mkdir(restored, 0o700))
	raw, err := os.ReadFile(filepath.Join(dir, "saved.db"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(restored, "siteprovider.db"), raw, 0o600))
	require.Contains(t, must(t, dir, "", "--data", restored, "store", "check").stdout, "3 documents on 2 sites")
	require.Equal(t, soup+"\n", must(t, dir, "", "--data", restored, "get", "https://kitchen.example/soup").stdout)

	o = must(t, dir, "", "store", "backup", "--json", "--force", "saved.db")
	require.Equal(t, int64(1), gjson.Get(o.stdout, "documents").Int(), o.stdout)
	for _, target := range []string{".", "no/dir.db", filepath.Join("siteprovider-data", "siteprovider.db")} {
		o = siteprovider(t, dir, "", "store", "backup", "--force", target)
		require.Equal(t, exitUsage, o.status, o)
		require.Contains(t, o.stderr, "siteprovider: FILE: ")
	}
	require.Contains(t, must(t, dir, "", "store", "check").stdout, "no damage\n")
}

func TestStoreCompactReindexAndInfoSayWhatTheyFound(t *testing.T) {
	dir := kitchen(t)
	must(t, dir, "", "delete", "--site", "trails.example")
	o := must(t, dir, "", "store", "compact", "--json")
	require.Equal(t, "false", gjson.Get(o.stdout, "log_in_use").Raw, o.stdout)
	file := gjson.Get(o.stdout, "after").Int()
	o = must(t, dir, "", "store", "info", "--json")
	require.Equal(t, file, gjson.Get(o.stdout, "file_bytes").Int(), o.stdout)
	for field, want := range map[string]int64{"version": embedded.StoreVersion, "sites": 1, "documents": 2, "outdated": 0, "segments": 1, "tombstones": 0,
		"free_bytes": 0, "log_bytes": 0} {
		require.Equal(t, want, gjson.Get(o.stdout, field).Int(), "%s of %s", field, o.stdout)
	}
	require.Greater(t, gjson.Get(o.stdout, "index_bytes").Int(), int64(0))
	packed := gjson.Get(o.stdout, "object_bytes").Int()
	require.Greater(t, packed, int64(0))
	require.Less(t, packed, int64(len(soup)+len(cake)))
	require.Contains(t, must(t, dir, "", "store", "info").stdout, "\ndocuments  2 on 1 site, 0 outdated\n")
	require.Regexp(t, `^\d+\.\d kB before, \d+\.\d kB after\n$`, must(t, dir, "", "store", "compact").stdout)

	harm(t, dir, "UPDATE document SET version = version - 1, crc = crc & 0xffffffff WHERE url LIKE '%soup'")
	require.Equal(t, "1 document reindexed\n", must(t, dir, "", "store", "reindex").stdout)
	harm(t, dir, "DELETE FROM chunk")
	require.Equal(t, "0 documents reindexed, the index of 1 site rebuilt\n", must(t, dir, "", "store", "reindex").stdout)
	require.Equal(t, `{"documents":2,"rebuilt":0}`+"\n", must(t, dir, "", "store", "reindex", "--all", "--json").stdout)
	require.Contains(t, must(t, dir, "", "search", "noodle").stdout, "https://kitchen.example/soup")
}

func TestStoreCommandsNeedAStoreOfOurs(t *testing.T) {
	commands := [][]string{{"store", "check"}, {"store", "compact"}, {"store", "info"}, {"store", "reindex"}, {"store", "backup", "b.db"}}
	dir := t.TempDir()
	for _, args := range commands {
		o := siteprovider(t, dir, "", args...)
		require.Equal(t, exitUsage, o.status, o)
		require.Contains(t, o.stderr, "nothing ingested here")
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)

	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte("retrieval:\n  theirs: {backend: theirs, plugin: "+self+"}\n"), 0o600))
	o := siteprovider(t, dir, "", "--config", file, "--use", "theirs", "store", "check")
	require.Equal(t, exitUsage, o.status, o)
	require.Contains(t, o.stderr, "retrieval.theirs has the backend theirs")

	require.NoError(t, os.Mkdir(filepath.Join(dir, "siteprovider-data"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "siteprovider-data", "siteprovider.db"), []byte(strings.Repeat("no store ", 2000)), 0o600))
	for _, args := range commands {
		o := siteprovider(t, dir, "", args...)
		require.Equal(t, exitFault, o.status, o)
		require.Contains(t, o.stderr, "backup", o)
	}
	for _, args := range [][]string{{"store"}, {"store", "mend"}, {"store", "check", "x"}, {"store", "backup"}, {"store", "backup", "a", "b"}, {"store", "backup", ""}} {
		o := siteprovider(t, t.TempDir(), "", args...)
		require.Equal(t, exitUsage, o.status, o)
		require.Empty(t, o.stdout)
	}
}

func TestBytesAreCountedAsPeopleReadThem(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 1_500_000_000: "1.5 GB", 5e15: "5000.0 TB"} {
		require.Equal(t, want, byteCount(n))
	}
}
