package wire_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siteprovider/siteprovider/plugin/internal/wire"
	"github.com/siteprovider/siteprovider/provider"
)

var sentinels = map[error]codes.Code{
	provider.ErrInvalid:         codes.InvalidArgument,
	provider.ErrUnauthenticated: codes.Unauthenticated,
	provider.ErrPermission:      codes.PermissionDenied,
	provider.ErrConflict:        codes.FailedPrecondition,
	provider.ErrUnavailable:     codes.Unavailable,
	provider.ErrUnsupported:     codes.Unimplemented,
	provider.ErrCorrupt:         codes.DataLoss,
	provider.ErrInternal:        codes.Internal,
}

func TestProviderErrorsCrossTheWireUnchanged(t *testing.T) {
	for sentinel, code := range sentinels {
		for _, want := range []*provider.Error{
			{Kind: sentinel},
			{Kind: sentinel, Arg: "Query.Scope"},
			{Kind: sentinel, Reason: "it says: no\nand \"more\": ü"},
			{Kind: sentinel, Arg: "documents[3].URL", Reason: "is blank: really"},
		} {
			st := wire.ErrorToStatus(want)
			if status.Code(st) != code || status.Convert(st).Message() != want.Error() {
				t.Errorf("%v became %v, want code %v and the same words", want, st, code)
			}
			for way, got := range map[string]error{
				"as a call's":     wire.ErrorFromStatus(st),
				"as a document's": wire.ErrorFromProto(wire.ErrorToProto(want)),
			} {
				var e *provider.Error
				if !errors.As(got, &e) || *e != *want {
					t.Errorf("%s: %#v became %#v", way, want, got)
				}
			}
			if !wire.Answered(st) || wire.Gone(st) {
				t.Errorf("%v does not count as the provider's answer", st)
			}
		}
	}
}

func TestWrappedErrorsKeepTheirClassAndEveryWord(t *testing.T) {
	inner := &provider.Error{Kind: provider.ErrCorrupt, Arg: "page 7", Reason: "has a wrong checksum"}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("search: read: %w", inner), "stored data is damaged: page 7: search: read: has a wrong checksum"},
		{fmt.Errorf("search: %w", provider.ErrUnavailable), "provider unavailable: search: provider unavailable"},
		{fmt.Errorf("%w: the server says 503", provider.ErrUnavailable), "provider unavailable: the server says 503"},
		{fmt.Errorf("get: %w", &provider.Error{Kind: provider.ErrPermission}), "permission denied: get"},
		{errors.New("no class"), "internal provider error: no class"},
		{context.DeadlineExceeded, "context deadline exceeded"},
		{fmt.Errorf("ask the server: %w", context.Canceled), "ask the server: context canceled"},
	} {
		for way, got := range map[string]error{
			"as a call's":     wire.ErrorFromStatus(wire.ErrorToStatus(tt.err)),
			"as a document's": wire.ErrorFromProto(wire.ErrorToProto(tt.err)),
		} {
			if got.Error() != tt.want {
				t.Errorf("%s: %q became %q, want %q", way, tt.err, got, tt.want)
			}
			for _, class := range []error{
				provider.ErrCorrupt, provider.ErrUnavailable, provider.ErrPermission,
				context.DeadlineExceeded, context.Canceled,
			} {
				if errors.Is(got, class) != errors.Is(tt.err, class) {
					t.Errorf("%s: %q matches %q: %v, want %v", way, got, class, errors.Is(got, class), errors.Is(tt.err, class))
				}
			}
		}
	}
}

func TestAnErrorFitsIntoTrailers(t *testing.T) {
	for name, reason := range map[string]string{
		"long": strings.Repeat("x", 1<<20), "of many bytes a character": strings.Repeat("語", 1<<19), "no text": "a\xffb",
	} {
		st := wire.ErrorToStatus(provider.Errorf(provider.ErrUnavailable, "%s", reason))
		if n := len(status.Convert(st).Message()); n > 4<<10 {
			t.Errorf("%s: a message of %d bytes", name, n)
		}
		if got := wire.ErrorFromStatus(st); !errors.Is(got, provider.ErrUnavailable) || strings.Contains(got.Error(), "\uFFFD\uFFFD") {
			t.Errorf("%s: became %.100q", name, got)
		}
	}
}

// Errors of other plugins, and of gRPC itself, carry nothing of ours.
func TestForeignErrorsAreClassedByTheirCode(t *testing.T) {
	foreign := &errdetails.ErrorInfo{Domain: "example.com", Reason: "INVALID"}
	withForeign, err := status.New(codes.Unavailable, "no healthy upstream").WithDetails(foreign)
	if err != nil {
		t.Fatal(err)
	}
	unknownReason, err := status.New(codes.Aborted, "new").WithDetails(&errdetails.ErrorInfo{Domain: "siteprovider", Reason: "OF_THE_FUTURE"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		err            error
		class          error
		answered, gone bool
	}{
		{status.Error(codes.InvalidArgument, "bad"), provider.ErrInvalid, true, false},
		{status.Error(codes.Unimplemented, "unknown method Sites"), provider.ErrUnsupported, true, false},
		{status.Error(codes.ResourceExhausted, "message too large"), provider.ErrInternal, true, false},
		{status.Error(codes.Unknown, "oops"), provider.ErrInternal, true, false},
		{status.Error(codes.Unavailable, "error reading from server: EOF"), provider.ErrUnavailable, false, true},
		{withForeign.Err(), provider.ErrUnavailable, false, true},
		{unknownReason.Err(), provider.ErrInternal, true, false},
		{status.FromContextError(context.DeadlineExceeded).Err(), context.DeadlineExceeded, false, false},
		{status.FromContextError(context.Canceled).Err(), context.Canceled, false, true},
		{wire.ErrorToStatus(context.DeadlineExceeded), context.DeadlineExceeded, true, false},
		{wire.GoneStatus("stopping"), provider.ErrUnavailable, false, true},
		{provider.Errorf(provider.ErrInternal, "found here"), provider.ErrInternal, false, false},
	} {
		if got := wire.ErrorFromStatus(tt.err); !errors.Is(got, tt.class) {
			t.Errorf("%v became %v, want one that matches %q", tt.err, got, tt.class)
		}
		if got := wire.Answered(tt.err); got != tt.answered {
			t.Errorf("Answered(%v) = %v, want %v", tt.err, got, tt.answered)
		}
		if got := wire.Gone(tt.err); got != tt.gone {
			t.Errorf("Gone(%v) = %v, want %v", tt.err, got, tt.gone)
		}
	}
}
