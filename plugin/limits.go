package plugin

import (
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// Limits bound what a host waits for and puts up with. Each 0 means the value
// of DefaultLimits; none may be negative.
type Limits struct {
	// StartTimeout is how long one start may take, Configure included.
	StartTimeout time.Duration

	// CallTimeout is how long a call may take whose context grants it more,
	// or sets no deadline at all. It then fails with an error that matches
	// context.DeadlineExceeded.
	CallTimeout time.Duration

	// MaxCalls is how many calls may be in flight. Further ones wait for
	// one of them to end, for as long as their contexts let them.
	MaxCalls int

	// The plugin is asked for its health every HealthEvery, and soon after
	// a call has met its deadline without an answer. After HealthMisses
	// answers in a row that took longer than HealthTimeout it is killed.
	HealthEvery, HealthTimeout time.Duration
	HealthMisses               int

	// After MaxFailures processes in a row that answered no call, calls
	// fail at once, and one start is tried per CoolDown.
	MaxFailures int
	CoolDown    time.Duration
}

// DefaultLimits are the Limits of a Spec that has none. With them a plugin that
// hangs is killed at most twelve seconds later, and at most eight seconds
// after a call has met its deadline.
func DefaultLimits() Limits {
	return Limits{
		StartTimeout: 10 * time.Second,
		CallTimeout:  DefaultMaxCallTime,
		MaxCalls:     DefaultMaxCalls,
		HealthEvery:  5 * time.Second, HealthTimeout: 2 * time.Second, HealthMisses: 3,
		MaxFailures: 5, CoolDown: 30 * time.Second,
	}
}

// complete returns l with every 0 filled in.
func (l Limits) complete() (Limits, error) {
	d := DefaultLimits()
	for _, f := range []struct {
		name      string
		value     *time.Duration
		otherwise time.Duration
	}{
		{"StartTimeout", &l.StartTimeout, d.StartTimeout},
		{"CallTimeout", &l.CallTimeout, d.CallTimeout},
		{"HealthEvery", &l.HealthEvery, d.HealthEvery},
		{"HealthTimeout", &l.HealthTimeout, d.HealthTimeout},
		{"CoolDown", &l.CoolDown, d.CoolDown},
	} {
		if *f.value < 0 {
			return Limits{}, provider.Invalidf("Spec.Limits."+f.name, "%v is negative", *f.value)
		}
		if *f.value == 0 {
			*f.value = f.otherwise
		}
	}
	for _, f := range []struct {
		name      string
		value     *int
		otherwise int
	}{
		{"MaxCalls", &l.MaxCalls, d.MaxCalls},
		{"HealthMisses", &l.HealthMisses, d.HealthMisses},
		{"MaxFailures", &l.MaxFailures, d.MaxFailures},
	} {
		if *f.value < 0 {
			return Limits{}, provider.Invalidf("Spec.Limits."+f.name, "%d is negative", *f.value)
		}
		if *f.value == 0 {
			*f.value = f.otherwise
		}
	}
	return l, nil
}
