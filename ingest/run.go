package ingest

import (
	"context"

	"github.com/siteprovider/siteprovider/provider"
)

// Run ingests what opts names and reports what became of it.
//
// The error is nil when the run came to its end, however much failed on the
// way: that is in the report. It matches provider.ErrInvalid, with a nil
// report, when opts is wrong and nothing was read; otherwise the report so far
// comes with it: a context error when ctx ended, the store's own error when
// the store cannot go on (ErrUnavailable after several attempts, ErrCorrupt,
// ErrUnauthenticated, ErrPermission, ErrUnsupported).
func Run(ctx context.Context, opts Options) (*Report, error) {
	return nil, provider.Errorf(provider.ErrUnsupported, "ingest: not built yet")
}
