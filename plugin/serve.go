package plugin

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/siteprovider/siteprovider/provider"
)

// OpenFunc opens the provider that a plugin serves. Settings is the JSON
// document of the host's Spec. It may hold keys: repeat it in no log line and
// no error. The context ends when opening is over.
type OpenFunc func(ctx context.Context, settings []byte) (provider.Provider, error)

// ServeOptions are the options of Serve; the zero value works.
type ServeOptions struct {
	// Log is where the plugin logs; nil: NewLogger.
	Log *slog.Logger

	// MaxCalls is how many calls may be in flight; 0 means DefaultMaxCalls.
	// One more fails at once with an error that matches
	// provider.ErrUnavailable and may be tried again.
	MaxCalls int

	// MaxCallTime is how long a call may take whose host grants it more, or
	// sets no deadline at all; 0 means DefaultMaxCallTime. The provider's
	// context ends then.
	MaxCallTime time.Duration
}

// Defaults of ServeOptions.
const (
	DefaultMaxCalls    = 512
	DefaultMaxCallTime = 10 * time.Minute
)

// ErrNoHost is returned by Serve in a process that no host started.
var ErrNoHost = errors.New("this is a plugin: it serves the search host that starts it and does nothing by itself")

const (
	// drainTime is how long calls in flight may go on after SIGTERM.
	drainTime = time.Second
	// closeTime is how long the provider may take to close at the end.
	closeTime = time.Second
	// orphanTime is how long a plugin lives on without its host.
	orphanTime = 900 * time.Millisecond
)

// Serve serves a provider to the host that started this process, and returns
// when the host has shut it down, has died, or SIGTERM came; the process is
// then expected to exit. SIGINT and SIGHUP are ignored: they go to all processes
// of a terminal, and the host decides what they mean.
//
// A plugin prints nothing to standard output before it calls Serve. Serve makes
// ServeOptions.Log the default of package slog, and with it of package log.
func Serve(open OpenFunc, opt ServeOptions) error {
	if os.Getenv(CookieKey) != CookieValue {
		return ErrNoHost
	}
	log := opt.Log
	if log == nil {
		log = NewLogger(levelFromEnv())
	}
	slog.SetDefault(log)
	host := os.Getppid()

	s := &serving{
		server: newServer(open),
		guard:  newGuard(log, opt),
		stdout: os.Stdout,
		stderr: os.Stderr,
		log:    log,
		ready:  make(chan struct{}),
	}
	// Without this a log line written after the host died, or the hang-up
	// that a halted process gets then, would end the process before the
	// provider is closed.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGHUP)
	go s.stopOnSignal()
	go s.stopWithHost()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: handshakeConfig(),
		Plugins:         goplugin.PluginSet{pluginName: &grpcPlugin{server: s.server}},
		GRPCServer:      s.grpcServer,
		Logger: hclog.New(&hclog.LoggerOptions{
			Name:       "go-plugin",
			Level:      hclog.Warn,
			Output:     os.Stderr,
			JSONFormat: true,
		}),
	})
	if s.grpc == nil {
		return errors.New("plugin: no socket to serve on; see the log")
	}
	if s.hostGone(host) {
		removeOwnSockets()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return s.server.close(ctx)
}

// serving is one run of Serve.
type serving struct {
	server         *server
	guard          *guard
	stdout, stderr *os.File
	log            *slog.Logger

	grpc     *grpc.Server // set once, before ready is closed
	ready    chan struct{}
	stdio    sync.Once
	orphaned atomic.Bool // the host is gone
	signaled atomic.Bool // SIGTERM came
}

// grpcServer is called by go-plugin with its own options, TLS among them.
func (s *serving) grpcServer(opts []grpc.ServerOption) *grpc.Server {
	opts = append(opts, serverOptions()...)
	opts = append(opts, grpc.ChainUnaryInterceptor(s.keepStdio, s.guard.intercept))
	s.grpc = grpc.NewServer(opts...)
	close(s.ready)
	return s.grpc
}

// keepStdio sends what is printed to the real standard error. go-plugin has
// put pipes in its place by the time the first call arrives, which it streams
// to a Go host; a host that does not read that stream would block whoever
// prints more than the pipe holds.
func (s *serving) keepStdio(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	s.stdio.Do(func() { os.Stdout, os.Stderr = s.stderr, s.stderr })
	return next(ctx, req)
}

// stopOnSignal drains and stops at SIGTERM.
func (s *serving) stopOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	<-signals
	s.signaled.Store(true)
	s.log.Info("stopping on SIGTERM")
	<-s.ready
	s.guard.drain(drainTime)
	s.grpc.Stop()
}

// stopWithHost stops at once when the host is gone: nobody is left to answer.
func (s *serving) stopWithHost() {
	gone := make(chan string, 2)
	if os.Getenv(LeaseEnv) == "stdin" {
		go func() {
			io.Copy(io.Discard, os.Stdin)
			gone <- "its lease on standard input ended"
		}()
	}
	go func() {
		if waitForOrphaned() {
			gone <- "another process became the parent"
		}
	}()
	why := <-gone
	// The log may be a pipe that nobody reads any more, and the provider
	// may hang; neither keeps the process alive.
	s.orphaned.Store(true)
	time.AfterFunc(orphanTime, func() {
		removeOwnSockets()
		os.Exit(1)
	})
	s.log.Info("stopping: the host is gone", "why", why)
	<-s.ready
	s.grpc.Stop()
}

// hostGone reports whether the process host, which started this one, is gone.
// Where the kernel tells of its death by SIGTERM it does so early in it.
func (s *serving) hostGone(host int) bool {
	const dying = 200 * time.Millisecond
	for deadline := time.Now().Add(dying); ; time.Sleep(5 * time.Millisecond) {
		if s.orphaned.Load() || os.Getppid() != host {
			return true
		}
		if !s.signaled.Load() || time.Now().After(deadline) {
			return false
		}
	}
}

// removeOwnSockets removes the directory that the host made for the socket, and
// can no longer remove. The socket went when the server stopped; where anything
// else is in it, this does nothing.
func removeOwnSockets() {
	if dir := os.Getenv(socketDirEnv); dir != "" {
		os.Remove(dir)
	}
}
