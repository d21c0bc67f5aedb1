package plugin

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// EventKind is what happened to a plugin.
type EventKind string

// The kinds of Event. A plugin begins with Starting and ends with Closed, which
// is the last event of all.
const (
	Starting    EventKind = "starting"     // a process is about to be started
	Serving     EventKind = "serving"      // it is configured and answers calls
	StartFailed EventKind = "start failed" // Err is what the waiting calls get
	Hung        EventKind = "hung"         // it does not answer and is killed
	Ended       EventKind = "ended"        // the next call starts another process
	CrashLoop   EventKind = "crash loop"   // calls fail at once; see Limits.MaxFailures
	Replaced    EventKind = "replaced"     // the executable on disk is not the one that runs
	Closed      EventKind = "closed"
)

// Event is a change in the state of a plugin.
type Event struct {
	Time time.Time
	Kind EventKind
	// Generation counts the processes that were started, from 1.
	Generation int
	PID        int   // of the process; 0 before there is one
	Err        error // why, for StartFailed, Hung, Ended and CrashLoop
	// Upgraded is set for Serving when the executable is not the file, or
	// not the version of it, that the process before was started from.
	Upgraded bool
}

// events hands events to a Spec's Notify, in order, one at a time and without
// keeping those waiting that they come from.
type events struct {
	notify func(Event) // may be nil
	log    *slog.Logger
	name   string

	mu      sync.Mutex
	waiting []Event
	busy    bool // a goroutine hands them out
	handed  sync.Cond
}

func newEvents(spec Spec) *events {
	e := &events{notify: spec.Notify, log: spec.Log, name: spec.name}
	e.handed.L = &e.mu
	return e
}

// logged is how each kind reads in the log.
var logged = map[EventKind]struct {
	level slog.Level
	msg   string
}{
	Starting:    {slog.LevelDebug, "starting the plugin"},
	Serving:     {slog.LevelInfo, "the plugin started"},
	StartFailed: {slog.LevelWarn, "the plugin did not start; the next call tries again"},
	Hung:        {slog.LevelError, "the plugin does not answer and is killed"},
	Ended:       {slog.LevelWarn, "the plugin ended; the next call starts it again"},
	CrashLoop:   {slog.LevelError, "the plugin keeps failing; calls fail at once until the next try"},
	Replaced:    {slog.LevelWarn, "the executable on disk was replaced or removed; the plugin runs on as it was started"},
	Closed:      {slog.LevelDebug, "the plugin is closed"},
}

// tell logs an event and has it handed on.
func (e *events) tell(ev Event, attrs ...slog.Attr) {
	ev.Time = time.Now()
	how := logged[ev.Kind]
	attrs = append([]slog.Attr{slog.String("plugin", e.name), slog.Int("generation", ev.Generation)}, attrs...)
	if ev.PID != 0 {
		attrs = append(attrs, slog.Int("pid", ev.PID))
	}
	if ev.Upgraded {
		attrs = append(attrs, slog.Bool("upgraded", true))
	}
	if ev.Err != nil {
		attrs = append(attrs, slog.Any("error", ev.Err))
	}
	e.log.LogAttrs(context.Background(), how.level, how.msg, attrs...)
	if e.notify == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = append(e.waiting, ev)
	if !e.busy {
		e.busy = true
		go e.handOut()
	}
}

func (e *events) handOut() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.waiting) > 0 {
		ev := e.waiting[0]
		e.waiting = e.waiting[1:]
		e.mu.Unlock()
		e.notify(ev)
		e.mu.Lock()
	}
	e.busy = false
	e.handed.Broadcast()
}

// wait returns when every event has been handed on.
func (e *events) wait() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.busy {
		e.handed.Wait()
	}
}
