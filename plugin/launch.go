package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/siteprovider/siteprovider/plugin/internal/wire"
	"github.com/siteprovider/siteprovider/provider"
)

const (
	// How a plugin is ended: asked to close the provider, then told to
	// exit, then killed; and how long the host waits for what is left.
	askTime  = time.Second
	exitTime = 1500 * time.Millisecond
	killTime = time.Second
)

// generation is one process of a plugin, started and configured.
type generation struct {
	number   int // from 1
	from     *executable
	process  *process
	log      *childLog
	goplugin *goplugin.Client
	sockets  *socketDir // nil until it is made
	conn     *grpc.ClientConn
	client   *client

	answered atomic.Bool   // a call of the contract
	doubted  chan struct{} // holds one when a call met its deadline without an answer

	stopOnce sync.Once
	stopErr  error
}

// launch starts the plugin of spec, which is complete, and configures it
// within ctx. Whatever has been started is ended again when it fails.
func launch(ctx context.Context, spec Spec) (_ *generation, err error) {
	from, err := openExecutable(spec)
	if err != nil {
		return nil, err
	}
	defer from.close()
	cmd := from.command()
	cmd.Env = childEnv(os.Environ(), spec.Env, lowestLevel(func(l slog.Level) bool { return spec.Log.Enabled(ctx, l) }))
	childLog := &childLog{log: spec.Log}
	g := &generation{from: from, process: newProcess(cmd, childLog), log: childLog, doubted: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			g.process.kill()
			g.stop()
		}
	}()
	unlimit := context.AfterFunc(ctx, g.process.kill)
	defer unlimit()

	g.goplugin = goplugin.NewClient(g.clientConfig(spec))
	connected, err := connect(g.goplugin)
	if err != nil {
		return nil, g.startError(ctx, spec, err)
	}
	if err := from.confirm(); err != nil {
		return nil, err
	}
	g.conn = connected.Conn
	g.client = newClient(g.conn)
	switch err := g.client.configure(ctx, spec.Settings); {
	case err == nil:
		return g, nil
	case wire.Answered(err):
		return nil, fmt.Errorf("configure plugin %s: %w", spec.name, wire.ErrorFromStatus(err))
	default:
		return nil, g.startError(ctx, spec, err)
	}
}

// clientConfig is new for each start: a client, a command and a hash that were
// used once cannot be used again.
func (g *generation) clientConfig(spec Spec) *goplugin.ClientConfig {
	return &goplugin.ClientConfig{
		HandshakeConfig:  handshakeConfig(),
		Plugins:          goplugin.PluginSet{pluginName: &grpcPlugin{}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		RunnerFunc:       g.runner,
		SkipHostEnv:      true,
		// A private directory keeps other users from a unix socket. A
		// port on Windows is open to all of them.
		AutoMTLS:        runtime.GOOS == "windows",
		StartTimeout:    spec.Limits.StartTimeout,
		GRPCDialOptions: dialOptions(),
		Logger:          silent(),
	}
}

// silent is a logger of go-plugin's that also keeps it from parsing log lines.
func silent() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard})
}

// runner is called by go-plugin with the variables of its own, and with a
// directory it made for the socket. It gets one of ours instead, which is known
// to be in use for as long as this host lives.
func (g *generation) runner(_ hclog.Logger, cmd *exec.Cmd, theirs string) (runner.Runner, error) {
	os.Remove(theirs)
	sockets, err := newSocketDir()
	if err != nil {
		return nil, err
	}
	g.sockets = sockets
	g.process.cmd.Env = append(append(g.process.cmd.Env, cmd.Env...), socketDirEnv+"="+sockets.path)
	return g.process, nil
}

// connect starts the process and connects to it. go-plugin panics at some
// malformed handshakes.
func connect(c *goplugin.Client) (_ *goplugin.GRPCClient, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("malformed handshake: %v", v)
		}
	}()
	protocol, err := c.Client()
	if err != nil {
		return nil, err
	}
	return protocol.(*goplugin.GRPCClient), nil
}

// startError says why the start failed, better than go-plugin could.
func (g *generation) startError(ctx context.Context, spec Spec, err error) error {
	e := &StartError{Path: spec.name, Kind: provider.ErrUnavailable, Cause: err, Reason: err.Error()}
	switch version := g.process.version(); {
	case version != 0 && version != ProtocolVersion:
		e.Kind, e.Cause = provider.ErrUnsupported, ErrVersion
		e.Reason = fmt.Sprintf("it speaks protocol version %d, this host version %d", version, ProtocolVersion)
	case ctx.Err() != nil:
		e.Cause = context.Cause(ctx)
		e.Reason = e.Cause.Error()
	case g.process.ID() == "":
		var exec *fs.PathError
		if errors.As(err, &exec) && exec.Op == "fork/exec" {
			e.Reason = "it cannot be executed: " + exec.Err.Error()
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOEXEC) {
				e.Kind = provider.ErrInvalid
			}
		}
	case version == 0:
		// What go-plugin got to see of its output ended without a
		// handshake. What it made of that is guessing.
		e.Cause, e.Reason = ErrHandshake, ErrHandshake.Error()
		if how := g.process.endedWithin(100 * time.Millisecond); how != "" {
			e.Reason += " (" + how + ")"
		}
		if len(g.log.lastWords()) == 0 {
			e.Reason += "; is it a siteprovider plugin?"
		}
	}
	e.LastWords = g.log.lastWords()
	return e
}

// stop ends the process and removes what belonged to it, in bounded time. Its
// error is that of closing the provider.
func (g *generation) stop() error {
	g.stopOnce.Do(func() { g.stopErr = g.end() })
	return g.stopErr
}

func (g *generation) end() error {
	if g.goplugin == nil {
		return nil
	}
	var closeErr error
	if g.client != nil {
		ctx, cancel := context.WithTimeout(context.Background(), askTime)
		if err := g.client.close(ctx); err != nil && wire.Answered(err) {
			closeErr = wire.ErrorFromStatus(err)
		}
		cancel()
	}
	// Kill waits for an answer to its own request without end, and for the
	// process once it has been killed.
	killed := make(chan struct{})
	go func() {
		g.goplugin.Kill()
		close(killed)
	}()
	deadline := time.AfterFunc(exitTime, g.process.kill)
	defer deadline.Stop()
	select {
	case <-killed:
	case <-time.After(exitTime + killTime):
		g.log.log.Error("the plugin does not end though it was killed", "pid", g.process.ID())
	}
	if g.sockets != nil {
		g.sockets.remove()
	}
	return closeErr
}
