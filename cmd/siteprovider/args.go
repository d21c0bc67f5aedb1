package main

import (
	"github.com/spf13/cobra"

	"github.com/siteprovider/siteprovider/provider"
)

// wantsArgs lets a command run with one argument or more; what says what the
// first of them is.
func wantsArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return provider.Invalidf("", "%s is missing", what)
		}
		return nil
	}
}

// wantsNoArgs lets a command run without arguments only.
func wantsNoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return provider.Invalidf("", "%s takes no argument, but there is %q", cmd.Name(), args[0])
	}
	return nil
}
