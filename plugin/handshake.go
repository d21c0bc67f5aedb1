package plugin

import (
	"context"
	"errors"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/provider"
)

// What host and plugin agree on before they speak.
const (
	// ProtocolVersion is the version of the wire, siteprovider.v1.
	ProtocolVersion = 1

	// CookieKey and CookieValue are the variable that tells a plugin that a
	// host started it. It is no secret; it keeps people from starting one
	// by hand and wondering why nothing happens.
	CookieKey   = "SITEPROVIDER_PLUGIN"
	CookieValue = "c8f1b7de-search-provider-over-go-plugin"

	// LeaseEnv, set to "stdin", tells the plugin that its standard input
	// stays open for as long as its host lives, and to exit when it ends.
	LeaseEnv = "SITEPROVIDER_PLUGIN_LEASE"

	// LogLevelEnv is the lowest level that the host logs: DEBUG, INFO, WARN
	// or ERROR. A plugin need not write what is below it.
	LogLevelEnv = "SITEPROVIDER_PLUGIN_LOG"
)

// pluginName is the one entry of the plugin set.
const pluginName = "provider"

func handshakeConfig() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   CookieKey,
		MagicCookieValue: CookieValue,
	}
}

// HTTP/2 windows that a whole reply of ordinary size fits into. With gRPC's
// own of 64 KiB, 50 objects of 2 KB already wait for the reader once.
const (
	streamWindow = 4 << 20
	connWindow   = 8 << 20
	ioBuffer     = 128 << 10
)

// serverOptions bound messages in both directions: gRPC's own bounds are 4 MiB
// for requests and none for replies.
func serverOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(provider.MaxMessageBytes),
		grpc.MaxSendMsgSize(provider.MaxMessageBytes),
		grpc.InitialWindowSize(streamWindow),
		grpc.InitialConnWindowSize(connWindow),
		grpc.ReadBufferSize(ioBuffer),
		grpc.WriteBufferSize(ioBuffer),
	}
}

func dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(provider.MaxMessageBytes),
			grpc.MaxCallSendMsgSize(provider.MaxMessageBytes),
		),
		grpc.WithInitialWindowSize(streamWindow),
		grpc.WithInitialConnWindowSize(connWindow),
		grpc.WithReadBufferSize(ioBuffer),
		grpc.WithWriteBufferSize(ioBuffer),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
	}
}

// grpcPlugin introduces our service to go-plugin.
type grpcPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
	server pb.ProviderServer // of the plugin; nil in a host
}

func (p *grpcPlugin) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	if p.server == nil {
		return errors.New("plugin: nothing to serve")
	}
	pb.RegisterProviderServer(s, p.server)
	return nil
}

func (p *grpcPlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return newClient(conn), nil
}
