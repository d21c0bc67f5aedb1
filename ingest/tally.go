package ingest

import "sync"

// tally counts outcomes and hands failures and notices on. It is safe for
// concurrent use and calls back one call at a time.
type tally struct {
	mu        sync.Mutex
	report    Report
	onFailure func(Failure)
	onNotice  func(Notice)
}

func newTally(opts Options) *tally {
	return &tally{
		report:    Report{Failures: []Failure{}, SkippedBy: make(map[string]int)},
		onFailure: opts.OnFailure,
		onNotice:  opts.OnNotice,
	}
}

// count adds one to Read and to the number that which points to.
func (t *tally) count(which func(*Report) *int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Read++
	*which(&t.report)++
}

func (t *tally) skip(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Read++
	t.report.Skipped++
	t.report.SkippedBy[reason]++
}

func (t *tally) fail(f Failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Read++
	t.report.Failed++
	if len(t.report.Failures) < MaxListed {
		t.report.Failures = append(t.report.Failures, f)
	} else {
		t.report.FailuresOmitted++
	}
	if t.onFailure != nil {
		t.onFailure(f)
	}
}

func (t *tally) notice(n Notice) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.report.Notices) < MaxListed {
		t.report.Notices = append(t.report.Notices, n)
	} else {
		t.report.NoticesOmitted++
	}
	if t.onNotice != nil {
		t.onNotice(n)
	}
}

func (t *tally) add(repairs, wordless int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Repairs += repairs
	t.report.Wordless += wordless
}

func (t *tally) progress(call func(Progress), bytes, total int64) {
	if call == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	call(Progress{Documents: t.report.Read, Failed: t.report.Failed, Bytes: bytes, Total: total})
}
