package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/siteprovider/siteprovider/provider"
)

//go:embed samples/*.example
var samples embed.FS

// demoSteps are the commands that demo runs, as a person would type them.
var demoSteps = []struct {
	title string
	args  []string
}{
	{"The sites that are there now:",
		[]string{"sites"}},
	{"A search of one site:",
		[]string{"search", "--site", "kitchen.example", "-n", "3", "noodle soup"}},
	{"A search of two sites, which rank together and let nothing else in:",
		[]string{"search", "--site", "gadgets.example", "--site", "trails.example", "-n", "3", "headlamp for a winter hike"}},
	{"A search of all sites:",
		[]string{"search", "-n", "3", "water"}},
	{"A search among what meets a condition, here what costs no more than 60:",
		[]string{"search", "--site", "gadgets.example", "--filter", "offers.price<=60", "-n", "3", "headphones"}},
	{"A search in Spanish, where a word is found in its other forms, too:",
		[]string{"search", "--site", "museo.example", "-n", "3", "retratos de mujeres"}},
	{"The full object behind a URL, as the site published it:",
		[]string{"get", "https://kitchen.example/recipes/beef-pho"}},
}

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Ingest sample sites into a temporary store, search them and look one object up",
		Long: `Ingest the sample sites built into this program into a temporary store, search
them, look one object up, and remove the store. Every command that runs is shown
as it would be typed, and is answered by a plugin process of its own.`,
		Args: wantsNoArgs,
		RunE: a.does(func(ctx context.Context, _ []string) error {
			for _, f := range []struct{ name, value string }{{"--config", a.File}, {"--data", a.Data}, {"--use", a.Use}} {
				if f.value != "" {
					return provider.Invalidf(f.name, "has no meaning for demo, which has a temporary store of its own")
				}
			}
			if a.json {
				return provider.Invalidf("--json", "has no meaning for demo, which prints for people")
			}
			return a.demo(ctx)
		}),
	}
}

func (a *app) demo(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "siteprovider-demo-")
	if err != nil {
		return fmt.Errorf("make a temporary directory: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, samples); err != nil {
		return fmt.Errorf("unpack the samples: %w", err)
	}
	err = a.print([]byte("The samples are eleven invented sites in five languages: recipes, a shop, a museum,\n" +
		"a library, films, jobs, news and more. They go into a temporary store. Every\n" +
		"command below is answered by a plugin process of its own.\n\n"))
	if err != nil {
		return err
	}
	step := []string{"ingest", "samples"}
	if err := a.demoStep(ctx, dir, step, []string{"ingest", filepath.Join(dir, "samples")}); err != nil {
		return err
	}
	for _, s := range demoSteps {
		if err := a.print([]byte("\n" + s.title + "\n\n")); err != nil {
			return err
		}
		if err := a.demoStep(ctx, dir, s.args, s.args); err != nil {
			return err
		}
	}
	return a.print([]byte(`
That was all; the temporary store is removed. To keep one, in ./siteprovider-data:

  siteprovider ingest cmd/siteprovider/samples/*/     the samples, from a checkout
  siteprovider ingest FILE...                         JSON-LD, JSON Lines or HTML of your own

and then search as above. siteprovider --help lists what else there is.
`))
}

// demoStep shows a command and runs it on the demonstration's store.
func (a *app) demoStep(ctx context.Context, dir string, shown, args []string) error {
	var line strings.Builder
	line.WriteString("$ siteprovider")
	for _, arg := range shown {
		line.WriteString(" " + shellQuote(arg))
	}
	if err := a.print([]byte(line.String() + "\n")); err != nil {
		return err
	}
	step := &app{stdin: a.stdin, stdout: a.stdout, stderr: a.stderr, open: a.open}
	global := []string{"--data", filepath.Join(dir, "store"), "--log-level", a.logLevel}
	if a.Plugin != "" {
		global = append(global, "--plugin", a.Plugin)
	}
	if status := step.run(ctx, append(global, args...)); status != exitDone {
		return errStatus(status)
	}
	return nil
}

// shellQuote returns arg as a POSIX shell takes it.
func shellQuote(arg string) string {
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool {
		return !strings.ContainsRune("-_./:=,@%+", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0 {
		return arg
	}
	if !strings.ContainsAny(arg, "\"\\$`!<>") {
		return `"` + arg + `"`
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
