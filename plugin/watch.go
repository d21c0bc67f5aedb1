package plugin

import (
	"context"
	"fmt"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	goplugin "github.com/hashicorp/go-plugin"
)

// recheck is the shortest time between two questions for a plugin's health.
const recheck = 500 * time.Millisecond

// watch sees g to its end: it notices when the process ends, when it no longer
// answers, which ends it, and when its executable is replaced.
func (s *supervisor) watch(g *generation) {
	limits := s.spec.Limits
	timer := time.NewTimer(limits.HealthEvery)
	defer timer.Stop()
	asked := time.Now()
	replaced := false
	for missed := 0; ; {
		select {
		case <-g.process.exited:
			s.retire(g)
			return
		case <-g.doubted:
			timer.Reset(max(0, min(recheck, limits.HealthEvery)-time.Since(asked)))
			continue
		case <-timer.C:
		}
		if !replaced && g.from.replaced() {
			replaced = true
			s.events.tell(Event{Kind: Replaced, Generation: g.number, PID: g.process.pid()})
		}
		healthy := g.healthy(limits.HealthTimeout)
		asked = time.Now()
		if healthy {
			missed = 0
			timer.Reset(limits.HealthEvery)
			continue
		}
		timer.Reset(min(recheck, limits.HealthEvery))
		if missed++; missed == limits.HealthMisses {
			s.events.tell(Event{Kind: Hung, Generation: g.number, PID: g.process.pid(), Err: s.ended(g,
				fmt.Sprintf("it gave no sign of health within %v, %d times in a row", limits.HealthTimeout, missed))})
			g.process.kill()
		}
	}
}

// doubt has the plugin asked for its health soon.
func (g *generation) doubt() {
	select {
	case g.doubted <- struct{}{}:
	default:
	}
}

// healthy asks the service that every go-plugin process has for its health.
func (g *generation) healthy(timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_, err := healthpb.NewHealthClient(g.conn).Check(ctx, &healthpb.HealthCheckRequest{Service: goplugin.GRPCServiceName})
	return err == nil
}
