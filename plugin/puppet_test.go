package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// puppet is a provider that does what the text of a search says: the first
// word is the command, the rest its argument. What it has to say is the name
// of the only hit; Info gives its process number as the count of documents.
type puppet struct {
	provider.Provider
	signals string // a directory; a file in it tells that a hanging call has come
}

// signal makes a file that a test waits for.
func (p *puppet) signal(name string) {
	if p.signals != "" {
		os.WriteFile(filepath.Join(p.signals, name), nil, 0o600)
	}
}

// puppetURL is that of what a puppet says.
const puppetURL = "https://a.example/"

// stuck never finishes closing.
type stuck struct{ provider.Provider }

func (stuck) Close() error { select {} }

func openPuppet(_ context.Context, settings []byte) (provider.Provider, error) {
	var s struct{ Refuse, Signals string }
	if err := json.Unmarshal(settings, &s); err != nil {
		return nil, provider.Invalidf("settings", "are not an object")
	}
	if s.Refuse != "" {
		return nil, provider.Invalidf("settings.refuse", "is %d characters long", len(s.Refuse))
	}
	return &puppet{providertest.NewMemory(), s.Signals}, nil
}

func (p *puppet) Search(ctx context.Context, q provider.Query) (*provider.Result, error) {
	command, arg, _ := strings.Cut(q.Text, " ")
	f, ok := commands[command]
	if !ok {
		return p.Provider.Search(ctx, q)
	}
	name, err := f(ctx, arg)
	if err != nil {
		return nil, err
	}
	return &provider.Result{
		Hits:      []provider.Hit{{URL: puppetURL, Site: "a.example", Name: name}},
		ScoreKind: provider.ScoreBM25,
	}, nil
}

func (p *puppet) Put(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
	for _, d := range docs {
		if d.Name == "hang" {
			p.signal("put")
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}
	return p.Provider.Put(ctx, docs)
}

func (p *puppet) Delete(ctx context.Context, sel provider.Selector) (int, error) {
	if sel.Site == "hang.example" {
		p.signal("delete")
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return p.Provider.Delete(ctx, sel)
}

func (p *puppet) Info(ctx context.Context) (provider.Info, error) {
	info, err := p.Provider.Info(ctx)
	info.Documents = int64(os.Getpid())
	return info, err
}

// The outputs as they were before Serve put something in their place.
var realStdout, realStderr = os.Stdout, os.Stderr

func lines(w io.Writer, count string) error {
	n, _ := strconv.Atoi(count)
	for i := range n {
		if _, err := fmt.Fprintf(w, "line %d %s\n", i, strings.Repeat("x", 50)); err != nil {
			return err
		}
	}
	return nil
}

// commands are what a puppet can be told.
var commands = map[string]func(ctx context.Context, arg string) (string, error){
	"pid":  func(context.Context, string) (string, error) { return strconv.Itoa(os.Getpid()), nil },
	"ppid": func(context.Context, string) (string, error) { return strconv.Itoa(os.Getppid()), nil },
	// size gives the bytes of the executable that runs.
	"size": func(context.Context, string) (string, error) {
		info, err := os.Stat("/proc/self/exe")
		if err != nil {
			return "", err
		}
		return strconv.FormatInt(info.Size(), 10), nil
	},
	"log": func(_ context.Context, arg string) (string, error) {
		slog.Warn(arg, "site", "a.example")
		return "", nil
	},
	"exit": func(_ context.Context, arg string) (string, error) {
		fmt.Fprintln(os.Stderr, "leaving with", arg)
		code, _ := strconv.Atoi(arg)
		os.Exit(code)
		return "", nil
	},
	"panic": func(_ context.Context, arg string) (string, error) { panic(arg) },
	"crash": func(_ context.Context, arg string) (string, error) {
		go func() { panic(arg) }()
		select {}
	},
	"fail": func(_ context.Context, arg string) (string, error) { return "", errors.New(arg) },
	// wait makes the file arg.PID, and answers once the file arg exists.
	"wait": func(ctx context.Context, arg string) (string, error) {
		if err := os.WriteFile(arg+"."+strconv.Itoa(os.Getpid()), nil, 0o600); err != nil {
			return "", err
		}
		for {
			if _, err := os.Stat(arg); err == nil {
				return strconv.Itoa(os.Getpid()), nil
			}
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(5 * time.Millisecond):
			}
		}
	},
	"deadline": func(ctx context.Context, _ string) (string, error) {
		deadline, ok := ctx.Deadline()
		return fmt.Sprint(ok, " ", time.Until(deadline) < time.Hour), nil
	},
	"env": func(context.Context, string) (string, error) {
		env, err := json.Marshal(os.Environ())
		return string(env), err
	},
	"args": func(context.Context, string) (string, error) {
		args, err := json.Marshal(os.Args)
		return string(args), err
	},
	// stderr writes arg as a line of its own, behind Go's back.
	"stderr": func(_ context.Context, arg string) (string, error) {
		_, err := realStderr.WriteString(arg + "\n")
		return "", err
	},
	// stderrBytes writes a line of arg bytes.
	"stderrBytes": func(_ context.Context, arg string) (string, error) {
		n, _ := strconv.Atoi(arg)
		_, err := realStderr.WriteString(strings.Repeat("x", n) + "\n")
		return "", err
	},
	// stderrLines and stdoutLines write arg lines of some 60 bytes.
	"stderrLines": func(_ context.Context, arg string) (string, error) { return "", lines(realStderr, arg) },
	"stdoutLines": func(_ context.Context, arg string) (string, error) { return "", lines(realStdout, arg) },
	// print prints arg bytes to Go's standard output.
	"print": func(_ context.Context, arg string) (string, error) {
		n, _ := strconv.Atoi(arg)
		fmt.Print(strings.Repeat("x", n))
		return "", nil
	},
	// stdoutBytes writes arg bytes to the real standard output, without a
	// line end.
	"stdoutBytes": func(_ context.Context, arg string) (string, error) {
		n, _ := strconv.Atoi(arg)
		_, err := realStdout.WriteString(strings.Repeat("x", n))
		return "", err
	},
	// child starts a process that holds standard error and outlives the
	// puppet, and gives its number.
	"child": func(_ context.Context, arg string) (string, error) {
		cmd := exec.Command("sleep", "60")
		cmd.Stdout, cmd.Stderr = realStdout, realStderr
		if arg == "apart" {
			ownSession(cmd)
		}
		if err := cmd.Start(); err != nil {
			return "", err
		}
		return strconv.Itoa(cmd.Process.Pid), nil
	},
}
