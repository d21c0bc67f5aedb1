package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/siteprovider/siteprovider/cmd/siteprovider/internal/config"
	"github.com/siteprovider/siteprovider/cmd/siteprovider/internal/host"
	"github.com/siteprovider/siteprovider/provider"
)

// callTimeout bounds a command that asks a provider one thing. Ingestion has
// no bound: it goes on for as long as documents get through.
const callTimeout = 2 * time.Minute

// app is one run of the command line.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	// open opens a configured provider; nil means host.Open.
	open func(context.Context, config.Entry, *slog.Logger) (provider.Provider, error)

	config.Options
	json     bool
	logLevel string

	started bool // a command has begun, so that its arguments were right
}

// run executes one command line and returns the status to exit with.
func (a *app) run(ctx context.Context, args []string) int {
	if a.open == nil {
		a.open = host.Open
	}
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	status := exitStatus(err)
	if !a.started {
		status = exitUsage
	}
	if !silent(err) {
		a.report("siteprovider: " + message(err))
	}
	if status == exitUsage && !a.started {
		a.tell("Try: %s --help", cmd.CommandPath())
	}
	return status
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "siteprovider",
		Short: "Search for websites: one site, several, or all, and the full object behind every hit",
		Long: `siteprovider keeps the Schema.org objects of websites, searches them for one
site, several, or all, and serves the full object for a URL. Every command but
store works through a plugin process, the same one that a host such as NLWeb loads.

Exit status: 0 done; 1 a document failed or a URL was not found; 2 wrong usage or
configuration, or nothing was ingested yet; 3 the backend is unavailable, the
store is damaged, the disk is full, or output could not be written; 129, 130, 143
ended by a hang-up, an interrupt, a request to terminate; 141 the reader of the
output went away.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.checkGlobalFlags(cmd); err != nil {
				return err
			}
			_, err := a.level()
			return err
		},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	f := root.PersistentFlags()
	f.StringVar(&a.File, "config", "", "configuration `FILE`, in the shape of NLWeb's (default: none, everything in --data)")
	f.StringVar(&a.Data, "data", "", "`DIR` that holds the store (default ./"+config.DefaultData+")")
	f.StringVar(&a.Use, "use", "", "`ENTRY` of the configuration to work with (default retrieval.default)")
	f.StringVar(&a.Plugin, "plugin", "", "`PATH` of the executable to load as the provider (default: this program)")
	f.BoolVar(&a.json, "json", false, "print the result as one JSON document")
	f.StringVar(&a.logLevel, "log-level", "error", "log to stderr from this `LEVEL` up: debug, info, warn or error")
	root.AddCommand(
		a.demoCommand(), a.ingestCommand(), a.searchCommand(), a.getCommand(), a.listCommand(),
		a.sitesCommand(), a.deleteCommand(), a.storeCommand(), a.pluginCommand(), a.versionCommand(),
	)
	for _, cmd := range root.Commands() {
		cmd.DisableFlagsInUseLine = true // Use names them
	}
	return root
}

// does turns the body of a command into what cobra runs.
func (a *app) does(body func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.started = true
		return body(cmd.Context(), args)
	}
}

// checkGlobalFlags refuses a flag that is given with nothing in it: in a script
// that is an unset variable, and its default would be another store.
func (a *app) checkGlobalFlags(cmd *cobra.Command) error {
	for _, name := range []string{"config", "data", "use", "plugin"} {
		f := cmd.Flags().Lookup(name)
		if f != nil && f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return provider.Invalidf("--"+name, "is blank")
		}
	}
	return nil
}

// load reads the configuration that the global flags point to.
func (a *app) load() (*config.Config, error) { return config.Load(a.Options) }

// connect opens a provider that is to be read; there has to be something to read.
func (a *app) connect(ctx context.Context, e config.Entry) (provider.Provider, error) {
	if host.Missing(e) {
		return nil, errNothingIngested(e.Data)
	}
	return a.connectToWrite(ctx, e)
}

func (a *app) connectToWrite(ctx context.Context, e config.Entry) (provider.Provider, error) {
	level, err := a.level()
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level}))
	p, err := a.open(ctx, e, log)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", e.Name, atOpening(err))
	}
	return p, nil
}

func (a *app) level() (slog.Level, error) {
	var level slog.Level
	switch a.logLevel {
	case "debug", "info", "warn", "error":
		return level, level.UnmarshalText([]byte(a.logLevel))
	}
	return level, provider.Invalidf("--log-level", "%q is not one of debug, info, warn, error", a.logLevel)
}

// print writes a result.
func (a *app) print(b []byte) error {
	switch _, err := a.stdout.Write(b); {
	case errors.Is(err, syscall.EPIPE):
		return errReaderGone
	case err != nil:
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// tell writes a line to a person; it may quote what documents say.
func (a *app) tell(format string, args ...any) {
	fmt.Fprintln(a.stderr, visible(fmt.Sprintf(format, args...)))
}

// report writes a text that may have several lines. All but the first are
// indented, so that what the text quotes cannot pass for a line of ours.
func (a *app) report(text string) {
	first := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if !first {
			line = "  " + line
		}
		first = false
		fmt.Fprintln(a.stderr, visible(line))
	}
}

// complain is tell, for what went wrong.
func (a *app) complain(format string, args ...any) {
	a.tell("siteprovider: "+format, args...)
}
