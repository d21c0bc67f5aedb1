package plugin

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/plugin/internal/wire"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

func TestAPanicBecomesAnError(t *testing.T) {
	rpc := configured(t, unchecking{}) // whose methods are nil
	for name, call := range calls(t.Context(), rpc) {
		wantStatus(t, name, call(), codes.Internal, "INTERNAL", "")
	}
}

// waitingProvider answers nothing before its context ends.
type waitingProvider struct {
	provider.Provider
	entered chan struct{}
}

func (w waitingProvider) Search(ctx context.Context, _ provider.Query) (*provider.Result, error) {
	w.entered <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func configuredWith(t *testing.T, p provider.Provider, opt ServeOptions) pb.ProviderClient {
	t.Helper()
	rpc := wiredWith(t, func(context.Context, []byte) (provider.Provider, error) { return p, nil }, opt)
	if _, err := rpc.Configure(t.Context(), &pb.ConfigureRequest{Settings: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	return rpc
}

func TestOneCallTooManyIsRefusedForNow(t *testing.T) {
	const most = 3
	p := waitingProvider{providertest.NewMemory(), make(chan struct{})}
	rpc := configuredWith(t, p, ServeOptions{MaxCalls: most})
	ctx, release := context.WithCancel(t.Context())
	ended := make(chan error, most)
	for range most {
		go func() {
			_, err := rpc.Search(ctx, &pb.SearchRequest{Text: "walnut", Scope: allSites})
			ended <- err
		}()
	}
	for range most {
		<-p.entered
	}
	for name, call := range calls(t.Context(), rpc) {
		err := call()
		wantStatus(t, name, err, codes.Unavailable, "UNAVAILABLE", "")
		if !strings.Contains(err.Error(), "3 calls are in flight") || !strings.Contains(err.Error(), "try again") {
			t.Errorf("%s: %v, want an error that says how many calls there are and what to do", name, err)
		}
		if !wire.Answered(err) {
			t.Errorf("%s: the host would take the plugin for dead", name)
		}
	}
	// What opens and closes the provider is no matter of load.
	if _, err := rpc.Configure(t.Context(), &pb.ConfigureRequest{Settings: []byte("{}")}); err != nil {
		t.Errorf("Configure: %v", err)
	}
	release()
	for range most {
		if err := <-ended; status.Code(err) != codes.Canceled {
			t.Errorf("a call that was canceled gave %v", err)
		}
	}
	// A handler ends a little after its caller was told.
	for {
		_, err := rpc.Info(t.Context(), &pb.InfoRequest{})
		if err == nil {
			break
		}
		if status.Code(err) != codes.Unavailable || t.Context().Err() != nil {
			t.Fatalf("Info, with no call in flight: %v", err)
		}
	}
	if _, err := rpc.Close(t.Context(), &pb.CloseRequest{}); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestNoCallOutlastsTheCap(t *testing.T) {
	p := waitingProvider{providertest.NewMemory(), make(chan struct{}, 2)}
	rpc := configuredWith(t, p, ServeOptions{MaxCallTime: 20 * time.Millisecond})
	forever, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for name, ctx := range map[string]context.Context{"no deadline": t.Context(), "a deadline of an hour": forever} {
		_, err := rpc.Search(ctx, &pb.SearchRequest{Text: "walnut", Scope: allSites})
		wantStatus(t, name, err, codes.DeadlineExceeded, "DEADLINE_EXCEEDED", "")
		if got := wire.ErrorFromStatus(err); !errors.Is(got, context.DeadlineExceeded) || !strings.Contains(got.Error(), "20ms") {
			t.Errorf("%s: the host gets %v, want the deadline that the plugin set", name, got)
		}
	}
}

func TestDrainingRefusesAndWaits(t *testing.T) {
	g := newGuard(slog.New(slog.DiscardHandler), ServeOptions{})
	entered, release, drained := make(chan struct{}), make(chan struct{}), make(chan struct{})
	info := &grpc.UnaryServerInfo{FullMethod: pb.Provider_Put_FullMethodName}
	go g.intercept(t.Context(), nil, info, func(context.Context, any) (any, error) {
		close(entered)
		<-release
		return nil, nil
	})
	<-entered
	go func() {
		g.drain(time.Hour)
		close(drained)
	}()
	answered := func(context.Context, any) (any, error) { return nil, nil }
	for {
		_, err := g.intercept(t.Context(), nil, info, answered)
		if wire.Gone(err) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-drained:
		t.Error("drained while a call was in flight")
	default:
	}
	close(release)
	<-drained
}
