// Package plugin runs a provider in a process of its own, and lets a host use
// it like any other: what crashes, leaks or hangs there is never the host.
//
// A host opens one from the running binary, or from any executable:
//
//	p, err := plugin.Open(ctx, plugin.Spec{Settings: settings})
//	defer p.Close()
//	res, err := p.Search(ctx, q)
//
// # Writing a plugin in Go
//
// It is a main function that calls [Serve] with a function that opens the
// provider. The directory example holds a whole one. Before that call it
// prints nothing to standard output; its log is package slog's default from
// then on. A panic in a handler becomes an error, calls past the bounds of
// [ServeOptions] are refused, and SIGTERM lets calls in flight go on for a
// second. Package provider/providertest tests it from outside:
//
//	go test ./provider/providertest -args -plugin PATH
//
// # Writing a plugin in another language
//
// The service is siteprovider.v1.Provider of proto/siteprovider/v1, whose
// comments and package provider are the contract, over gRPC, in the frame of
// hashicorp/go-plugin. The wire is frozen: there will be further fields and
// calls, so answer UNIMPLEMENTED to a call that you do not know, and expect
// that answer.
//
// The start:
//
//   - [CookieKey] is in the environment with [CookieValue]; without it, say
//     what you are and exit. PLUGIN_PROTOCOL_VERSIONS lists the versions that
//     the host speaks, with commas between them; this is version 1.
//   - Where PLUGIN_CLIENT_CERT is not set, which is everywhere but on Windows,
//     listen on a unix socket in the directory PLUGIN_UNIX_SOCKET_DIR; its name
//     may have 20 bytes. Else listen on a port of 127.0.0.1 between
//     PLUGIN_MIN_PORT and PLUGIN_MAX_PORT, with TLS both ways: the variable
//     holds the host's certificate in PEM.
//   - Then print one line to standard output, and nothing before:
//     "1|1|unix|PATH|grpc|", or "1|1|tcp|127.0.0.1:PORT|grpc|CERTIFICATE" with
//     your own certificate in DER as base64 without padding.
//   - Serve grpc.health.v1.Health with SERVING for the service "plugin", and
//     answer it within two seconds at any time: a host kills a plugin that
//     does not, three times in a row.
//   - Serve plugin.GRPCController/Shutdown, from an empty message to an empty
//     message, which ends the process.
//   - A host calls Configure first, with settings that may hold keys: put them
//     into no log line and no error. It gives a plugin ten seconds up to the
//     end of that call, unless it is told otherwise.
//
// The calls:
//
//   - Accept and send messages of up to 16 MiB. A reply that would be larger
//     is cut as the .proto says for each call.
//   - Every call has a deadline; end when it or its caller ends.
//   - An error is a gRPC status with a google.rpc.ErrorInfo in its details, as
//     the .proto says. UNAVAILABLE without one means to a host that this
//     process is lost: it starts another, and asks it again what only reads.
//   - Calls come side by side, hundreds of them. Refuse what is too much with
//     UNAVAILABLE and the ErrorInfo UNAVAILABLE, which means "try again".
//
// The process:
//
//   - Where [LeaseEnv] is "stdin", standard input is a lease: nothing comes
//     there, and when it ends the host is dead. Exit within a second then, and
//     remove the socket and the directory PLUGIN_UNIX_SOCKET_DIR. On Linux the
//     kernel sends SIGTERM as well.
//   - At SIGTERM finish the calls in flight for up to a second, and exit.
//     Ignore SIGINT and SIGHUP: a terminal sends them to all its processes.
//   - Log to standard error, one JSON object per line, with @level (trace,
//     debug, info, warn or error), @message and @timestamp, such as
//     2026-01-31T12:00:00.000000Z; other members are kept as they are. Any
//     other line is logged at level info, and cut after 64 KiB. What is below
//     the level in [LogLevelEnv] need not be written.
//   - Of the host's environment there are PATH, HOME, TMPDIR, the language, the
//     proxies, and what the host's configuration names; nothing else.
//   - Processes of its own belong into its process group, so that they are
//     ended with it.
//
// # Writing a host in another language
//
// Start the executable without a shell and in a process group of its own, with
// an environment made for it, [LeaseEnv] in it, and a new directory of mode
// 0700 for its socket. Keep the other end of its standard input open and
// write nothing there; read standard output and standard error to their ends.
// Read plugin.GRPCStdio/StreamStdio, too, where plugins are not made with this
// package: what they print blocks otherwise. Set a deadline on every call. To
// end a plugin, call Close, then Shutdown, and kill its group a second and a
// half later.
package plugin

//go:generate go run ./internal/protogen
