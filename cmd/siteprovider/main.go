// Command siteprovider searches the Schema.org objects of websites, keeps them
// up to date and serves each one by its URL. It is a host, and the plugin that
// a host loads, in one executable.
package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

func main() {
	os.Exit(runMain())
}

// runMain runs the command line of this process. The first interrupt cancels
// what is going on, which leaves a store and its plugin in good order; a
// second one ends the process at once.
func runMain() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// Once somebody listens, writing to a reader that has gone, such as
	// head, is an error like any other and not the end of the process, which
	// would leave its temporary files behind.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	var got atomic.Int32
	go func() {
		s := <-signals
		if n, ok := s.(syscall.Signal); ok {
			got.Store(int32(n))
		}
		signal.Stop(signals)
		cancel()
	}()
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	status := a.run(ctx, os.Args[1:])
	if n := got.Load(); n != 0 && status != exitDone {
		return exitSignal + int(n)
	}
	return status
}
