//go:build unix

package plugin_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/plugin"
)

// eventLog keeps the events of a plugin in their order.
type eventLog struct {
	mu   sync.Mutex
	all  []plugin.Event
	read int
}

// watched is spec with its events kept.
func watched(spec plugin.Spec) (plugin.Spec, *eventLog) {
	l := new(eventLog)
	spec.Notify = func(e plugin.Event) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, e)
	}
	return spec, l
}

// next waits for the next event of a kind and passes those before it over.
func (l *eventLog) next(t *testing.T, kind plugin.EventKind) (found plugin.Event) {
	t.Helper()
	eventually(t, "the event "+string(kind), func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for l.read < len(l.all) {
			l.read++
			if found = l.all[l.read-1]; found.Kind == kind {
				return true
			}
		}
		return false
	})
	return found
}

func (l *eventLog) kinds() []plugin.EventKind {
	l.mu.Lock()
	defer l.mu.Unlock()
	var kinds []plugin.EventKind
	for _, e := range l.all {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func TestEventsTellALifeInOrder(t *testing.T) {
	nothingLeft(t)
	spec, events := watched(kind("puppet"))
	before := time.Now()
	p, err := plugin.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	pid := pidOf(t, p)
	tell(t.Context(), p, "exit 7") // twice, because a search is repeated
	eventually(t, "both ends are told", func() bool { return strings.Count(join(events.kinds()), "ended") == 2 })
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	// Close returns when everything was told. An end is told when the process
	// is gone, which may be after the next was begun.
	kinds := events.kinds()
	var order []plugin.EventKind
	for _, k := range kinds {
		if k != plugin.Ended {
			order = append(order, k)
		}
	}
	want := []plugin.EventKind{plugin.Starting, plugin.Serving, plugin.Starting, plugin.Serving, plugin.Closed}
	if !slices.Equal(order, want) || kinds[len(kinds)-1] != plugin.Closed {
		t.Errorf("events %q, want %q with the two ends in between", kinds, want)
	}
	last := 0
	for _, e := range events.all {
		if e.Time.Before(before) || e.Kind == plugin.Ended && (e.Err == nil || !strings.Contains(e.Err.Error(), "exit status 7")) {
			t.Errorf("event %+v, want a time and, of an end, a reason", e)
		}
		if e.Kind == plugin.Serving && e.Generation == 1 && e.PID != pid || e.Kind == plugin.Starting && e.Generation != last+1 {
			t.Errorf("event %+v: want process %d for the first, and processes counted", e, pid)
		}
		if e.Kind == plugin.Starting {
			last = e.Generation
		}
	}
}

func join(kinds []plugin.EventKind) string {
	var b strings.Builder
	for _, k := range kinds {
		b.WriteString(string(k) + "\n")
	}
	return b.String()
}

func TestASlowListenerKeepsNoCallWaiting(t *testing.T) {
	nothingLeft(t)
	release := make(chan struct{})
	spec := kind("puppet")
	spec.Notify = func(plugin.Event) { <-release }
	p := open(t, spec)
	for range 2 {
		kill(t, pidOf(t, p))
	}
	mustTell(t, p, "pid")
	close(release)
}
