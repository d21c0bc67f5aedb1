package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/siteprovider/siteprovider/ingest"
)

// progress shows a person how far a long command has come. The zero value shows
// nothing, which is right for a log file.
type progress struct {
	bar *progressbar.ProgressBar
}

// progressBar returns a bar if stderr is a terminal.
func (a *app) progressBar() *progress {
	f, ok := a.stderr.(*os.File)
	if !ok {
		return &progress{}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &progress{}
	}
	return &progress{bar: progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(f),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

func (p *progress) show(s ingest.Progress) {
	if p.bar == nil {
		return
	}
	if s.Total > 0 && s.Total != p.bar.GetMax64() {
		p.bar.ChangeMax64(s.Total)
	}
	p.bar.Describe(fmt.Sprintf("%d read, %d failed", s.Documents, s.Failed))
	// A bar that cannot be drawn is no reason to stop.
	_ = p.bar.Set64(s.Bytes)
}

// documents shows how many documents of a store are done.
func (p *progress) documents(done, total int64) {
	if p.bar == nil {
		return
	}
	if total != p.bar.GetMax64() {
		p.bar.ChangeMax64(total)
	}
	p.bar.Describe(fmt.Sprintf("%d of %d documents", done, total))
	_ = p.bar.Set64(done)
}

// clear makes room for a line of text.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
