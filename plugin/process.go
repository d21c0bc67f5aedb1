package plugin

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

// process is one run of the plugin's executable, under go-plugin's management:
// in a process group of its own, with standard input as a lease that ends when
// the host does, and with both outputs always read. go-plugin's own runner
// lends the plugin the host's standard input, and notices neither an end nor a
// kill while a grandchild holds an output.
type process struct {
	cmd *exec.Cmd
	log *childLog

	lease      *os.File       // the host's end of the plugin's standard input
	handshake  *io.PipeReader // what go-plugin gets to see of standard output
	handshakeW *io.PipeWriter
	outputs    [2]*os.File // the host's ends of standard output and error
	readers    sync.WaitGroup

	exited chan struct{} // closed when the process has been waited for
	err    error         // of that wait, from then on

	mu      sync.Mutex
	running *os.Process // nil before the start, and once it has been waited for
	killed  bool
	agreed  string // the handshake line
}

func newProcess(cmd *exec.Cmd, log *childLog) *process {
	p := &process{cmd: cmd, log: log, exited: make(chan struct{})}
	p.handshake, p.handshakeW = io.Pipe()
	return p
}

// Start implements runner.Runner.
func (p *process) Start(context.Context) error {
	theirs, err := p.openPipes()
	if err != nil {
		return err
	}
	p.readers.Go(p.readStdout)
	p.readers.Go(func() { p.log.read(p.outputs[1]) })
	ownGroup(p.cmd)
	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	for _, f := range theirs {
		f.Close()
	}
	if err != nil {
		p.closePipes()
	}
	return err
}

// openPipes connects the three standard streams and returns the plugin's ends,
// which the host has to close once the plugin has them.
func (p *process) openPipes() (theirs []*os.File, err error) {
	defer func() {
		if err != nil {
			p.closePipes()
			for _, f := range theirs {
				f.Close()
			}
		}
	}()
	stdin, lease, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.lease, p.cmd.Stdin, theirs = lease, stdin, append(theirs, stdin)
	for i := range p.outputs {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		p.outputs[i], theirs = r, append(theirs, w)
	}
	p.cmd.Stdout, p.cmd.Stderr = theirs[1], theirs[2]
	return theirs, nil
}

func (p *process) closePipes() {
	for _, f := range append(p.outputs[:], p.lease) {
		if f != nil {
			f.Close()
		}
	}
	p.handshakeW.Close()
}

// run starts the process and waits for its end on one operating system thread,
// because Linux ends the plugin together with the thread that started it.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.exited)
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	p.mu.Lock()
	p.running = p.cmd.Process
	if p.killed {
		killGroup(p.running)
	}
	p.mu.Unlock()
	started <- nil

	if waitForExit(p.cmd.Process) {
		// It has ended and is not reaped: its number still stands for
		// its group and for nothing else. After Wait it may be another's.
		p.mu.Lock()
		killGroup(p.running)
		p.running = nil
		p.mu.Unlock()
	}
	p.err = p.cmd.Wait()
	p.mu.Lock()
	p.running = nil
	p.mu.Unlock()
	p.finishReading()
}

// finishReading lets the readers take what the pipes still hold, and ends them
// even if a process that left the group keeps a pipe open.
func (p *process) finishReading() {
	read := make(chan struct{})
	go func() {
		p.readers.Wait()
		close(read)
	}()
	select {
	case <-read:
	case <-time.After(200 * time.Millisecond):
	}
	p.closePipes()
	<-read
}

// readStdout hands go-plugin the handshake line and nothing else. What a
// plugin prints before or after it is logged.
func (p *process) readStdout() {
	defer p.handshakeW.Close()
	eachLine(p.outputs[0], func(line []byte, cut bool) {
		p.mu.Lock()
		first := p.agreed == "" && isHandshake(line)
		if first {
			p.agreed = string(line)
		}
		p.mu.Unlock()
		if first {
			p.handshakeW.Write(append(bytes.Clone(line), '\n'))
			return
		}
		p.log.line(line, cut)
	})
}

// isHandshake tells go-plugin's line, such as "1|1|unix|/path|grpc|", from
// what else a plugin may print.
func isHandshake(line []byte) bool {
	fields := strings.Split(string(line), "|")
	if len(fields) < 4 {
		return false
	}
	for _, number := range fields[:2] {
		if _, err := strconv.Atoi(number); err != nil {
			return false
		}
	}
	return fields[2] == "unix" || fields[2] == "tcp"
}

// version returns the protocol version of the handshake, 0 before it.
func (p *process) version() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.agreed == "" {
		return 0
	}
	n, _ := strconv.Atoi(strings.Split(p.agreed, "|")[1])
	return n
}

// kill ends the process and its group, now; before the start, right after it.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if p.running != nil {
		killGroup(p.running)
	}
}

// pid is the number of the process, 0 before the start.
func (p *process) pid() int {
	if p.cmd.Process == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// endedWithin says how the process ended, such as "exit status 1"; "" when it
// still runs after atMost.
func (p *process) endedWithin(atMost time.Duration) string {
	select {
	case <-p.exited:
	default:
		select {
		case <-p.exited:
		case <-time.After(atMost):
			return ""
		}
	}
	if p.err == nil {
		return "exit status 0"
	}
	return p.err.Error()
}

// What follows is the rest of runner.Runner.

// Wait implements runner.Runner.
func (p *process) Wait(ctx context.Context) error {
	select {
	case <-p.exited:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Kill implements runner.Runner. Where there was no handshake go-plugin kills
// because the output has ended, so the process is about to end by itself; how it
// does explains more than a kill.
func (p *process) Kill(context.Context) error {
	if p.version() == 0 {
		p.endedWithin(100 * time.Millisecond)
	}
	p.kill()
	return nil
}

// Stdout implements runner.Runner.
func (p *process) Stdout() io.ReadCloser { return p.handshake }

// Stderr implements runner.Runner. go-plugin gets nothing to parse: it trusts
// log lines to be of the right types, and panics where they are not.
func (p *process) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name implements runner.Runner.
func (p *process) Name() string { return p.cmd.Path }

// ID implements runner.Runner.
func (p *process) ID() string {
	if pid := p.pid(); pid != 0 {
		return strconv.Itoa(pid)
	}
	return ""
}

// Diagnose implements runner.Runner. A StartError says what there is to say.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.Runner.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin implements runner.Runner.
func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

var _ runner.Runner = (*process)(nil)
