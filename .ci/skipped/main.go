// Command skipped reads the output of "go test -json" from standard input,
// prints what "go test" would, the packages' results last, and fails when a
// test failed or when one was skipped for a reason that is not allowed. A test
// that nobody notices has stopped running is worth nothing.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// event is a line of test2json's output.
type event struct {
	Action, Package, Test, Output, ImportPath string
}

// key is a test of a package.
type key struct{ pkg, test string }

func main() {
	allowed := flag.String("allow", "^$", "regular `expression` of the messages of skips that are right")
	flag.Parse()
	if err := run(regexp.MustCompile(*allowed)); err != nil {
		fmt.Fprintln(os.Stderr, "skipped:", err)
		os.Exit(1)
	}
}

func run(allowed *regexp.Regexp) error {
	output := make(map[key]string)
	var results, wrong []string
	failed, ran := 0, 0
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			return fmt.Errorf("not the output of go test -json: %w: %s", err, in.Text())
		}
		k := key{e.Package, e.Test}
		switch e.Action {
		case "build-output":
			fmt.Print(e.Output)
		case "output":
			if e.Test == "" && isResult(e.Output) {
				results = append(results, e.Output)
			} else {
				output[k] += e.Output
			}
		case "pass":
			if e.Test != "" {
				ran++
			}
			delete(output, k)
		case "fail":
			fmt.Print(output[k])
			failed++
		case "skip":
			if e.Test != "" && !allowed.MatchString(output[k]) {
				wrong = append(wrong, fmt.Sprintf("%s %s:\n%s", e.Package, e.Test, output[k]))
			}
			delete(output, k)
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	for _, w := range wrong {
		fmt.Print("skipped, but should run: ", w)
	}
	for _, r := range results {
		fmt.Print(r)
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d failures", failed)
	case len(wrong) > 0:
		return fmt.Errorf("%d tests were skipped that should run", len(wrong))
	case ran == 0:
		return fmt.Errorf("no test ran")
	}
	return nil
}

// isResult reports whether a line is the one that sums a package up.
func isResult(line string) bool {
	for _, prefix := range []string{"ok  \t", "FAIL\t", "---\t", "?   \t"} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}
