// Package plugin runs a provider in a process of its own and lets a host use
// it like any other: a crash, a leak or a hang of the provider is never the
// host's.
package plugin

//go:generate go run ./internal/protogen
