package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// childEnv names the engine in the environment of a child process.
const childEnv = "SITEPROVIDER_BENCH_ENGINE"

// request is what the parent asks of a child, one at a time.
type request struct {
	Op        operation
	Dir       string              // opOpen
	Searching bool                // opOpen: nothing will be put
	Quiet     time.Duration       // opSettle
	Documents []provider.Document // opPut
	Text      string              // opSearch
	Sites     []string            // opSearch; none: every site
	Limit     int                 // opSearch
	Objects   bool                // opSearch: the reply carries the objects
}

type operation int

const (
	opOpen operation = iota
	opPut
	opSettle
	opSearch
	opCount
	opUsage
	opClose
)

// reply is a child's answer.
type reply struct {
	Err     string
	Took    time.Duration // of the engine alone, by the child's clock
	CPU     time.Duration // opSettle
	Hits    []provider.Hit
	Bytes   int // of the objects of the hits
	Count   int64
	Process process
}

// serveChild is the main of a child process: it holds one engine and does what
// it is asked until its input ends.
func serveChild(engineName string, in io.Reader, out io.Writer) error {
	c, err := contenderNamed(engineName)
	if err != nil {
		return err
	}
	dec, enc := gob.NewDecoder(in), gob.NewEncoder(out)
	var e engine
	for {
		var req request
		if err := dec.Decode(&req); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var rep reply
		if e == nil && req.Op != opOpen && req.Op != opUsage {
			rep.Err = "the engine is not open"
		} else if err := serve(c, &e, &req, &rep); err != nil {
			rep.Err = err.Error()
		}
		if err := enc.Encode(&rep); err != nil {
			return err
		}
	}
}

func serve(c contender, e *engine, req *request, rep *reply) (err error) {
	ctx := context.Background()
	start := time.Now()
	defer func() {
		if rep.Took == 0 && req.Op != opSettle {
			rep.Took = time.Since(start)
		}
	}()
	switch req.Op {
	case opOpen:
		*e, err = c.open(ctx, req.Dir, req.Searching)
	case opPut:
		err = (*e).put(ctx, req.Documents)
	case opSettle:
		s := settle(req.Quiet)
		rep.Took, rep.CPU = s.took, s.cpu
	case opSearch:
		rep.Hits, err = (*e).search(ctx, req.Text, req.Sites, req.Limit)
		rep.Took = time.Since(start)
		for i := range rep.Hits {
			rep.Bytes += len(rep.Hits[i].Schema)
			if !req.Objects {
				rep.Hits[i].Schema = nil
			}
		}
	case opCount:
		rep.Count, err = (*e).count(ctx)
	case opUsage:
		debug.FreeOSMemory() // collects garbage, too
		rep.Process = thisProcess()
	case opClose:
		err = (*e).close()
		*e = nil
	}
	return err
}

// child is a process that holds one engine.
type child struct {
	engine string
	cmd    *exec.Cmd
	in     io.WriteCloser
	enc    *gob.Encoder
	dec    *gob.Decoder
}

// startChild starts this program again to hold the named engine.
func startChild(ctx context.Context, engineName string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childEnv+"="+engineName)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &child{engine: engineName, cmd: cmd, in: in, enc: gob.NewEncoder(in), dec: gob.NewDecoder(out)}, nil
}

// startOpen starts a child and opens its engine in dir, to search it only or to
// put documents, too. took is how long opening took.
func startOpen(ctx context.Context, engineName, dir string, searching bool) (c *child, took time.Duration, err error) {
	if c, err = startChild(ctx, engineName); err != nil {
		return nil, 0, err
	}
	rep, err := c.call(request{Op: opOpen, Dir: dir, Searching: searching})
	if err != nil {
		c.kill()
		return nil, 0, err
	}
	return c, rep.Took, nil
}

func (c *child) call(req request) (reply, error) {
	var rep reply
	if err := c.enc.Encode(&req); err != nil {
		return rep, fmt.Errorf("%s: %w", c.engine, err)
	}
	if err := c.dec.Decode(&rep); err != nil {
		return rep, fmt.Errorf("%s: the process ended: %w", c.engine, err)
	}
	if rep.Err != "" {
		return rep, fmt.Errorf("%s: %w", c.engine, errors.New(rep.Err))
	}
	return rep, nil
}

// stop closes the engine and ends the process.
func (c *child) stop() error {
	if _, err := c.call(request{Op: opClose}); err != nil {
		return err
	}
	_, err := c.end()
	return err
}

// end ends a process whose engine is closed. It returns the processor time of
// the process's life.
func (c *child) end() (cpu time.Duration, err error) {
	if err := c.in.Close(); err != nil {
		return 0, err
	}
	if err := c.cmd.Wait(); err != nil {
		return 0, fmt.Errorf("%s: %w", c.engine, err)
	}
	return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime(), nil
}

// kill ends the process, whatever it is doing.
func (c *child) kill() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}
