package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider/embedded"
	"github.com/siteprovider/siteprovider/schemaorg"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the program, the plugin wire, the store and the text rules",
		Args:  wantsNoArgs,
		RunE: a.does(func(context.Context, []string) error {
			if !a.json {
				return a.print(fmt.Appendf(nil, "siteprovider %s\nwire %d\nstore %d\ntext %d\ngo %s\n",
					programVersion(), plugin.ProtocolVersion, embedded.StoreVersion, schemaorg.TextVersion, runtime.Version()))
			}
			b := jsonText([]byte{'{'}, "version", programVersion())
			b = jsonInt(b, "wire", plugin.ProtocolVersion)
			b = jsonInt(b, "store", embedded.StoreVersion)
			b = jsonInt(b, "text", schemaorg.TextVersion)
			return a.print(append(jsonText(b, "go", runtime.Version()), '}', '\n'))
		}),
	}
}

// release is the version of a checkout that carries no tag of its own.
const release = "0.1.0-dev"

// programVersion returns the version that the Go toolchain stamped into the
// program: a tag's name, or release and the commit where there is no tag.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	if v := info.Main.Version; v != "" && v != "(devel)" && !strings.HasPrefix(v, "v0.0.0-") {
		return v
	}
	version := release
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			version += "+" + s.Value[:12]
		}
	}
	return version
}
