package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/siteprovider/siteprovider/cmd/siteprovider/internal/host"
	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

func (a *app) pluginCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "plugin",
		Short: "Serve a provider to the host that started this process",
		Long: `Serve a provider over hashicorp/go-plugin to the host that started this process. A
host runs it; there is nothing to run by hand. Settings arrive over the wire, so
no flag or variable concerns it.`,
		Args: wantsNoArgs,
		RunE: a.does(func(context.Context, []string) error {
			err := plugin.Serve(host.Backend(programVersion()), plugin.ServeOptions{})
			if errors.Is(err, plugin.ErrNoHost) {
				return provider.Invalidf("", "%v", err)
			}
			return err
		}),
	}
}
