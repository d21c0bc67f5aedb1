package plugin

import (
	"context"
	"time"
)

// OpenWithPulse is Open with a health check of another rhythm: every so often,
// and killed at the first answer that takes longer than timeout.
func OpenWithPulse(ctx context.Context, spec Spec, every, timeout time.Duration) (*Plugin, error) {
	return openWith(ctx, spec, pulse{every: every, timeout: timeout, misses: 1})
}
