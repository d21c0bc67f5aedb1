// Package plugin runs a provider in a process of its own, and lets a host use
// it like any other: what crashes, leaks or hangs there is never the host.
//
// A host opens one from the running binary, or from any executable:
//
//	p, err := plugin.Open(ctx, plugin.Spec{Settings: settings})
//	defer p.Close()
//	res, err := p.Search(ctx, q)
//
// The other side of it is a main function that calls [Serve], as the example
// there shows.
//
// # Writing a plugin in another language
//
// The service is siteprovider.v1.Provider of proto/siteprovider/v1, over gRPC,
// in the frame of hashicorp/go-plugin:
//
//   - [CookieKey] is in the environment with [CookieValue]; without it, say
//     what you are and exit. PLUGIN_PROTOCOL_VERSIONS lists the versions that
//     the host speaks; this is version 1.
//   - Listen on a unix socket in the directory PLUGIN_UNIX_SOCKET_DIR, print
//     "1|1|unix|" + its path + "|grpc|" and a line end to standard output, and
//     nothing before. Accept messages of 16 MiB.
//   - Serve grpc.health.v1.Health, with SERVING for the service "plugin", and
//     plugin.GRPCController/Shutdown, which ends the process.
//   - Where [LeaseEnv] is "stdin", exit when standard input ends. Ignore
//     SIGINT; end calls in flight and exit at SIGTERM.
//   - Log to standard error, one JSON object per line with @level, @message
//     and @timestamp.
//
// A host in another language has to drain standard output and error, to hold
// the other end of standard input, and to keep its environment to itself.
package plugin

//go:generate go run ./internal/protogen
