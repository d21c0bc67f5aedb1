package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/siteprovider/siteprovider/cmd/siteprovider/internal/config"
	"github.com/siteprovider/siteprovider/cmd/siteprovider/internal/host"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/embedded"
)

func (a *app) storeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Check, compact, back up, measure or reindex the embedded store",
		Long: `Take care of the file in which the embedded store keeps everything. These commands
work on the file itself and not through a plugin; others may go on searching and
ingesting meanwhile.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return provider.Invalidf("", "what to do with the store is missing: check, compact, backup, info or reindex")
			}
			return provider.Invalidf("", "store has no command %q; it has check, compact, backup, info and reindex", args[0])
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(a.storeCheckCommand(), a.storeCompactCommand(), a.storeBackupCommand(), a.storeInfoCommand(), a.storeReindexCommand())
	for _, c := range cmd.Commands() {
		c.DisableFlagsInUseLine = true
	}
	// It runs only to say that a command is missing.
	cmd.SetUsageTemplate(strings.Replace(cmd.UsageTemplate(), "{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}", 1))
	return cmd
}

func (a *app) storeCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Look for damage in the whole store",
		Long: `Read the whole store and compare all its parts: the pages of the file, checksums,
counts, the index with the documents, and every document with what was ingested.
Nothing is written. What is damaged is listed with what mends it, and the exit
status is 3.`,
		Args: wantsNoArgs,
		RunE: a.withStore(func(ctx context.Context, s *embedded.Store, _ []string) error {
			bar := a.progressBar()
			r, err := s.Check(ctx, bar.documents)
			bar.clear()
			if err != nil {
				return err
			}
			text := checkText(r)
			if a.json {
				text = checkJSON(r)
			}
			if err := a.print(text); err != nil {
				return err
			}
			if r.Found > 0 {
				return errStatus(exitFault)
			}
			return nil
		}),
	}
}

func checkText(r *embedded.CheckReport) []byte {
	var b bytes.Buffer
	has := make(map[embedded.Remedy]bool)
	for _, p := range r.Problems {
		has[p.Remedy] = true
		fmt.Fprintf(&b, "damaged: %s\n", visible(p.What))
	}
	fmt.Fprintf(&b, "%s on %s, %s: ", count(r.Documents, "document"), count(r.Sites, "site"), count(r.Segments, "index segment"))
	switch {
	case r.Found == 0:
		b.WriteString("no damage\n")
	case r.Found > int64(len(r.Problems)):
		fmt.Fprintf(&b, "%s, of which %d are listed\n", count(r.Found, "problem"), len(r.Problems))
	default:
		fmt.Fprintf(&b, "%s\n", count(r.Found, "problem"))
	}
	for _, m := range []struct {
		remedy embedded.Remedy
		text   string
	}{
		{embedded.RemedyReindex, "to mend the index: siteprovider store reindex --all"},
		{embedded.RemedyIngest, "to mend the documents named: delete them and ingest them again"},
		{embedded.RemedyRestore, "to mend the file: empty the directory and put a backup there, or move it away and ingest again"},
	} {
		if has[m.remedy] {
			fmt.Fprintf(&b, "  %s\n", m.text)
		}
	}
	if r.Outdated > 0 {
		fmt.Fprintf(&b, "  to bring %s of an older version up to date: siteprovider store reindex\n", count(r.Outdated, "document"))
	}
	return b.Bytes()
}

func checkJSON(r *embedded.CheckReport) []byte {
	b := jsonInt([]byte{'{'}, "documents", r.Documents)
	b = jsonInt(b, "sites", r.Sites)
	b = jsonInt(b, "segments", r.Segments)
	b = jsonInt(b, "outdated", r.Outdated)
	b = jsonInt(b, "found", r.Found)
	b = jsonList(b, "problems", len(r.Problems), func(b []byte, i int) []byte {
		b = jsonText(append(b, '{'), "what", r.Problems[i].What)
		return append(jsonText(b, "remedy", string(r.Problems[i].Remedy)), '}')
	})
	return append(b, '}', '\n')
}

func (a *app) storeCompactCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Make the file small, and remove what was deleted from it for good",
		Long: `Merge each site's pieces of the index into one, write the file anew without gaps,
and empty its log. What was deleted or replaced before is then in neither of them.

Others may go on searching. Writing the file anew takes some 20 seconds for a
gigabyte, for which writers wait; one that gives up after 30 seconds is told that
the store is busy, and loses nothing. It takes as much free space beside the file
as it has in the end, and as much again for temporary files (in the directory that
SQLITE_TMPDIR or TMPDIR names, else /var/tmp or /tmp). If it fails, the store is
what it was.`,
		Args: wantsNoArgs,
		RunE: a.withStore(func(ctx context.Context, s *embedded.Store, _ []string) error {
			r, err := s.Compact(ctx)
			if err != nil {
				return err
			}
			if r.LogInUse {
				a.tell("note: another process went on reading an older state; what was deleted is gone after the next compact without one")
			}
			if a.json {
				b := jsonInt([]byte{'{'}, "before", r.Before)
				b = jsonInt(b, "after", r.After)
				b = jsonInt(b, "merged", int64(r.Merged))
				return a.print(append(jsonBool(b, "log_in_use", r.LogInUse), '}', '\n'))
			}
			return a.print(fmt.Appendf(nil, "%s before, %s after\n", byteCount(r.Before), byteCount(r.After)))
		}),
	}
}

func (a *app) storeBackupCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "backup [--force] FILE",
		Short: "Write a copy of the store into one file",
		Long: `Write a copy of the store, as it is at one moment, into one file, while others go
on searching and ingesting. The file appears once it is complete. To restore it,
copy it to siteprovider.db in the directory of a store, in which no other file
whose name begins with siteprovider.db may be left.`,
		Args: wantsArgs("the file to write"),
	}
	cmd.Flags().BoolVar(&force, "force", false, "let the backup take the place of a file that is there")
	cmd.RunE = a.withStore(func(ctx context.Context, s *embedded.Store, args []string) error {
		if len(args) > 1 {
			return provider.Invalidf("", "backup takes one file, but there is also %q", args[1])
		}
		if _, err := os.Lstat(args[0]); !force && !errors.Is(err, fs.ErrNotExist) && args[0] != "" {
			return provider.Invalidf("", "%s is there already; --force replaces it", args[0])
		}
		r, err := s.Backup(ctx, embedded.BackupOptions{Path: args[0], Replace: force})
		if err != nil {
			return err
		}
		if a.json {
			b := jsonText([]byte{'{'}, "path", args[0])
			b = jsonInt(b, "documents", r.Documents)
			b = jsonInt(b, "sites", r.Sites)
			return a.print(append(jsonInt(b, "bytes", r.Bytes), '}', '\n'))
		}
		return a.print(fmt.Appendf(nil, "%s on %s, %s: %s\n", count(r.Documents, "document"), count(r.Sites, "site"), byteCount(r.Bytes), visible(args[0])))
	})
	return cmd
}

func (a *app) storeInfoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Tell how large the store and its parts are",
		Args:  wantsNoArgs,
		RunE: a.withStore(func(ctx context.Context, s *embedded.Store, _ []string) error {
			st, err := s.Stats(ctx)
			if err != nil {
				return err
			}
			if a.json {
				return a.print(statsJSON(st))
			}
			return a.print(statsText(st))
		}),
	}
}

func statsText(st *embedded.Stats) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "file       %s, version %d\n", visible(st.Path), st.Version)
	fmt.Fprintf(&b, "size       %s, and %s of log\n", byteCount(st.FileBytes), byteCount(st.LogBytes))
	fmt.Fprintf(&b, "free       %s of it\n", byteCount(st.FreeBytes))
	fmt.Fprintf(&b, "documents  %d on %s, %d outdated\n", st.Documents, count(st.Sites, "site"), st.Outdated)
	fmt.Fprintf(&b, "objects    %s, packed\n", byteCount(st.ObjectBytes))
	fmt.Fprintf(&b, "index      %s, %s, %s\n", byteCount(st.IndexBytes), count(st.Segments, "segment"), count(st.Tombstones, "tombstone"))
	return b.Bytes()
}

func statsJSON(st *embedded.Stats) []byte {
	b := jsonText([]byte{'{'}, "path", st.Path)
	b = jsonInt(b, "version", int64(st.Version))
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"sites", st.Sites}, {"documents", st.Documents}, {"outdated", st.Outdated}, {"segments", st.Segments}, {"tombstones", st.Tombstones},
		{"index_bytes", st.IndexBytes}, {"object_bytes", st.ObjectBytes}, {"free_bytes", st.FreeBytes}, {"file_bytes", st.FileBytes}, {"log_bytes", st.LogBytes},
	} {
		b = jsonInt(b, n.name, n.value)
	}
	return append(b, '}', '\n')
}

func (a *app) storeReindexCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "reindex [--all]",
		Short: "Bring the index up to date with the rules of this version",
		Long: `Read the documents again that were indexed by the rules of another version, and
rebuild an index that is damaged; with --all, read every document again. It may be
interrupted: what is done is done, and the next time it does the rest. Others may
go on searching and ingesting.`,
		Args: wantsNoArgs,
	}
	cmd.Flags().BoolVar(&all, "all", false, "read every document again, which mends all damage but that of documents")
	cmd.RunE = a.withStore(func(ctx context.Context, s *embedded.Store, _ []string) error {
		bar := a.progressBar()
		r, err := s.Reindex(ctx, embedded.ReindexOptions{All: all, Progress: bar.documents})
		bar.clear()
		if err != nil {
			return err
		}
		if a.json {
			b := jsonInt([]byte{'{'}, "documents", r.Documents)
			return a.print(append(jsonInt(b, "rebuilt", r.Rebuilt), '}', '\n'))
		}
		text := fmt.Appendf(nil, "%s reindexed", count(r.Documents, "document"))
		if r.Rebuilt > 0 {
			text = fmt.Appendf(text, ", the index of %s rebuilt", count(r.Rebuilt, "site"))
		}
		return a.print(append(text, '\n'))
	})
	return cmd
}

// withStore turns the body of a command into what cobra runs, with the embedded
// store that is configured.
func (a *app) withStore(body func(ctx context.Context, s *embedded.Store, args []string) error) func(*cobra.Command, []string) error {
	return a.does(func(ctx context.Context, args []string) error {
		s, err := a.openStore(ctx)
		if err != nil {
			return err
		}
		if err := body(ctx, s, args); err != nil {
			_ = s.Close() // err is what matters
			return err
		}
		return s.Close()
	})
}

func (a *app) openStore(ctx context.Context) (*embedded.Store, error) {
	if a.Plugin != "" {
		return nil, provider.Invalidf("--plugin", "the store commands work on the embedded store's file, and not through a plugin; leave it out")
	}
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	e := cfg.Retrieval
	if e.Backend != config.Embedded {
		return nil, provider.Invalidf("", "%s has the backend %s; the store commands are for the embedded one", e.Name, e.Backend)
	}
	if host.Missing(e) {
		return nil, errNothingIngested(e.Data)
	}
	level, err := a.level()
	if err != nil {
		return nil, err
	}
	s, err := embedded.Open(ctx, embedded.Options{
		Dir: e.Data, MustExist: true, Version: programVersion(),
		Log: slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level})),
	})
	if err != nil {
		return nil, atOpening(err)
	}
	return s, nil
}

// count returns a number of things, in words that fit it.
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// byteCount returns a number of bytes as people read it.
func byteCount(n int64) string {
	const step = 1000
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), ""
	for _, unit = range []string{"kB", "MB", "GB", "TB"} {
		if value /= step; value < step-0.05 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}
