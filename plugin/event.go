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

// events logs what happens to a plugin, and hands it to a Spec's Notify. Those
// that tell of it wait for neither.
type events struct {
	log    *slog.Logger
	name   string
	lines  queue[slog.Record]
	notify queue[Event]
}

func newEvents(spec Spec) *events {
	e := &events{log: spec.Log, name: spec.name}
	e.lines.handle = func(r slog.Record) { e.log.Handler().Handle(context.Background(), r) }
	e.notify.handle = spec.Notify
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
	if how := logged[ev.Kind]; e.log.Enabled(context.Background(), how.level) {
		line := slog.NewRecord(ev.Time, how.level, how.msg, 0)
		line.AddAttrs(slog.String("plugin", e.name), slog.Int("generation", ev.Generation))
		if ev.PID != 0 {
			line.AddAttrs(slog.Int("pid", ev.PID))
		}
		if ev.Upgraded {
			line.AddAttrs(slog.Bool("upgraded", true))
		}
		if ev.Err != nil {
			line.AddAttrs(slog.Any("error", ev.Err))
		}
		line.AddAttrs(attrs...)
		e.lines.add(line)
	}
	if e.notify.handle != nil {
		e.notify.add(ev)
	}
}

// wait returns when every event has been logged and handed on.
func (e *events) wait() {
	e.lines.wait()
	e.notify.wait()
}

// queue handles items in their order, one at a time, on a goroutine that is
// there while there are any.
type queue[T any] struct {
	handle func(T)

	mu      sync.Mutex
	waiting []T
	idle    chan struct{} // closed when all are handled; nil before the first
}

func (q *queue[T]) add(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, item)
	if len(q.waiting) == 1 {
		q.idle = make(chan struct{})
		go q.work()
	}
}

func (q *queue[T]) work() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) > 0 {
		item := q.waiting[0] // it stays in front while it is handled
		q.mu.Unlock()
		q.handle(item)
		q.mu.Lock()
		q.waiting = q.waiting[1:]
	}
	close(q.idle)
}

func (q *queue[T]) wait() {
	q.mu.Lock()
	idle := q.idle
	q.mu.Unlock()
	if idle != nil {
		<-idle
	}
}
