package goodmemtest

import (
	"container/heap"
	"slices"
	"time"
)

// pendingQueue holds the memories whose state changes with time, the next to
// change first. Nothing runs in the background: whatever asks brings the states
// up to date first, so that nothing is left behind and tests see no race.
type pendingQueue struct {
	steps []step
	jobs  int64
}

// step is a change of state that is due at a time.
type step struct {
	due    time.Time
	memory *memory
	state  string
	reason string
}

func (q *pendingQueue) Len() int           { return len(q.steps) }
func (q *pendingQueue) Less(i, j int) bool { return q.steps[i].due.Before(q.steps[j].due) }
func (q *pendingQueue) Swap(i, j int)      { q.steps[i], q.steps[j] = q.steps[j], q.steps[i] }

// Push and Pop are for package heap alone.
func (q *pendingQueue) Push(x any) { q.steps = append(q.steps, x.(step)) }

// Pop is for package heap alone.
func (q *pendingQueue) Pop() any {
	last := len(q.steps) - 1
	x := q.steps[last]
	q.steps = slices.Delete(q.steps, last, last+1)
	return x
}

// plan asks what becomes of a memory.
func (s *Server) plan(m *memory) Indexing {
	if s.options.Index != nil {
		return s.options.Index(m.public())
	}
	return Indexing{Delay: s.options.IndexDelay}
}

// add plans the steps of a memory; the caller holds the server's lock.
func (q *pendingQueue) add(m *memory, plan Indexing, now time.Time) {
	q.jobs++
	m.job = q.jobs
	if plan.Delay < 0 {
		return
	}
	end := step{due: now.Add(plan.Delay), memory: m, state: Completed}
	if plan.Fail != "" {
		end.state, end.reason = Failed, plan.Fail
	}
	if plan.Delay > 0 {
		heap.Push(q, step{due: now.Add(plan.Delay / 2), memory: m, state: Processing})
	}
	heap.Push(q, end)
}

// settle takes the steps that are due.
func (s *Server) settle() {
	now := s.now()
	s.mu.RLock()
	due := s.pending.due(now)
	s.mu.RUnlock()
	if !due {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.pending.due(now) {
		next := heap.Pop(&s.pending).(step)
		s.enter(next.memory, next.state, next.reason, next.due)
	}
}

func (q *pendingQueue) due(now time.Time) bool {
	return len(q.steps) > 0 && !q.steps[0].due.After(now)
}

// enter puts a memory that is not indexed yet into a state; the caller holds
// the lock.
func (s *Server) enter(m *memory, state, reason string, at time.Time) bool {
	if m.gone || m.state == Completed || m.state == Failed {
		return false
	}
	m.state, m.reason, m.updated = state, reason, max(at.UnixMilli(), m.created)
	if state == Completed {
		for _, ch := range m.chunks {
			ch.created = m.updated
		}
		m.space.corpus.index(m)
	}
	return true
}

// CompleteIndexing makes memories COMPLETED and findable now: those with the
// ids, or with none all that wait. It returns how many were not before.
func (s *Server) CompleteIndexing(ids ...string) int {
	return s.finish(Completed, "", ids)
}

// FailIndexing makes memories FAILED now, for a reason that the processing
// history tells.
func (s *Server) FailIndexing(reason string, ids ...string) int {
	return s.finish(Failed, reason, ids)
}

func (s *Server) finish(state, reason string, ids []string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	if len(ids) == 0 {
		for id := range s.memories {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		if m := s.memories[id]; m != nil && s.enter(m, state, reason, s.now()) {
			n++
		}
	}
	return n
}
