package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/provider"
)

const (
	errorDomain = "siteprovider"
	argKey      = "arg"

	// maxErrorBytes bounds the words of an error. A status travels in HTTP/2
	// trailers, twice, and gRPC implementations other than Go's refuse
	// trailers over 8 KiB.
	maxErrorBytes = 2 << 10
)

// kind is one class of error in its three spellings. A context error is told
// apart from the rest because it is no *provider.Error in Go.
type kind struct {
	sentinel error
	wire     pb.ErrorKind
	code     codes.Code
}

var kinds = []kind{
	{provider.ErrInvalid, pb.ErrorKind_ERROR_KIND_INVALID, codes.InvalidArgument},
	{provider.ErrUnauthenticated, pb.ErrorKind_ERROR_KIND_UNAUTHENTICATED, codes.Unauthenticated},
	{provider.ErrPermission, pb.ErrorKind_ERROR_KIND_PERMISSION, codes.PermissionDenied},
	{provider.ErrConflict, pb.ErrorKind_ERROR_KIND_CONFLICT, codes.FailedPrecondition},
	{provider.ErrUnavailable, pb.ErrorKind_ERROR_KIND_UNAVAILABLE, codes.Unavailable},
	{provider.ErrUnsupported, pb.ErrorKind_ERROR_KIND_UNSUPPORTED, codes.Unimplemented},
	{provider.ErrCorrupt, pb.ErrorKind_ERROR_KIND_CORRUPT, codes.DataLoss},
	internal,
	{context.DeadlineExceeded, pb.ErrorKind_ERROR_KIND_DEADLINE_EXCEEDED, codes.DeadlineExceeded},
	{context.Canceled, pb.ErrorKind_ERROR_KIND_CANCELED, codes.Canceled},
}

var internal = kind{provider.ErrInternal, pb.ErrorKind_ERROR_KIND_INTERNAL, codes.Internal}

func (k kind) isContext() bool {
	return k.sentinel == context.DeadlineExceeded || k.sentinel == context.Canceled
}

// name is the reason of the ErrorInfo of an error of kind k.
func (k kind) name() string { return strings.TrimPrefix(k.wire.String(), "ERROR_KIND_") }

func kindWhere(match func(kind) bool) kind {
	for _, k := range kinds {
		if match(k) {
			return k
		}
	}
	return internal
}

// failure is an error taken apart: what crosses the wire.
type failure struct {
	kind        kind
	arg, reason string
}

// apart takes err apart. The words that wrap a *provider.Error become part of
// its reason, so that none is lost and none is said twice.
func apart(err error) failure {
	f := failure{kind: kindWhere(func(k kind) bool { return errors.Is(err, k.sentinel) })}
	words := err.Error()
	var inner *provider.Error
	switch {
	case f.kind.isContext():
		f.reason = strings.TrimSuffix(strings.TrimSuffix(words, f.kind.sentinel.Error()), ": ")
	case errors.As(err, &inner) && errors.Is(inner, f.kind.sentinel):
		f.arg = inner.Arg
		f.reason = strings.TrimSuffix(strings.Replace(words, inner.Error(), inner.Reason, 1), ": ")
	case words == f.kind.sentinel.Error():
	default:
		f.reason = strings.TrimPrefix(words, f.kind.sentinel.Error()+": ")
	}
	f.arg, f.reason = short(f.arg), short(f.reason)
	return f
}

// whole is the error that f says.
func (f failure) whole() error {
	if !f.kind.isContext() {
		return &provider.Error{Kind: f.kind.sentinel, Arg: f.arg, Reason: f.reason}
	}
	if f.reason == "" {
		return f.kind.sentinel
	}
	return fmt.Errorf("%s: %w", f.reason, f.kind.sentinel)
}

// ErrorToProto converts the error of one document.
func ErrorToProto(err error) *pb.Error {
	f := apart(err)
	return &pb.Error{Kind: f.kind.wire, Arg: f.arg, Reason: f.reason}
}

// ErrorFromProto converts m; an absent error is a defect of the plugin.
func ErrorFromProto(m *pb.Error) error {
	if m == nil {
		return provider.Errorf(provider.ErrInternal, "the plugin gave no reason")
	}
	k := kindWhere(func(k kind) bool { return k.wire == m.GetKind() })
	return failure{k, m.GetArg(), m.GetReason()}.whole()
}

// ErrorToStatus converts the error of a call to one that gRPC sends. Its
// message reads like the error itself, for hosts that only show it.
func ErrorToStatus(err error) error {
	f := apart(err)
	info := &errdetails.ErrorInfo{Domain: errorDomain, Reason: f.kind.name()}
	if f.arg != "" {
		info.Metadata = map[string]string{argKey: f.arg}
	}
	st, detailErr := status.New(f.kind.code, f.whole().Error()).WithDetails(info)
	if detailErr != nil { // only an OK status or an unknown message type
		return status.Error(codes.Internal, err.Error())
	}
	return st.Err()
}

// ErrorFromStatus converts the error of a call to what the provider returned.
// An error that did not come from a provider is classed by its code.
func ErrorFromStatus(err error) error {
	st, ok := status.FromError(err)
	if !ok { // found wrong on this side of the wire
		return apart(err).whole()
	}
	f := failure{kind: kindWhere(func(k kind) bool { return k.code == st.Code() })}
	if info := errorInfo(st); info != nil {
		f.kind = kindWhere(func(k kind) bool { return k.name() == info.GetReason() })
		f.arg = info.GetMetadata()[argKey]
	}
	if f.kind.isContext() {
		f.reason = strings.TrimSuffix(strings.TrimSuffix(st.Message(), f.kind.sentinel.Error()), ": ")
		return f.whole()
	}
	bare := f.whole().Error()
	if st.Message() != bare {
		f.reason = strings.TrimPrefix(st.Message(), bare+": ")
	}
	return f.whole()
}

// Answered reports whether the provider itself said err, the error of a call;
// if not, the process is gone, the call never reached it, or the caller's
// context ended first.
func Answered(err error) bool {
	st, ok := status.FromError(err)
	if !ok {
		return false
	}
	switch st.Code() {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return errorInfo(st) != nil
	}
	return true
}

// Gone reports whether err, the error of a call whose caller still waits, says
// that the process that should have answered is not there. A call that is
// canceled, though not by its caller, met a connection that was being closed.
func Gone(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.Canceled:
		return !Answered(err)
	}
	return false
}

// Late reports whether err, the error of a call, says that its deadline passed
// before there was an answer.
func Late(err error) bool {
	return status.Code(err) == codes.DeadlineExceeded && !Answered(err)
}

// GoneStatus returns the error of a call that matches Gone.
func GoneStatus(reason string) error { return status.Error(codes.Unavailable, reason) }

func errorInfo(st *status.Status) *errdetails.ErrorInfo {
	for _, detail := range st.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == errorDomain {
			return info
		}
	}
	return nil
}

// short cuts s to what an error may carry, at a character.
func short(s string) string {
	s = text(s)
	if len(s) <= maxErrorBytes {
		return s
	}
	cut := maxErrorBytes
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}
