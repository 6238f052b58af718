package main

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
)

// Set by the linker for release builds.
var version, commit string

// engineBuilt says what the engine in C was compiled with. Builds without cgo have no such engine.
var engineBuilt = func() string { return "none, this build moves no bytes" }

// buildVersion is the version that was set by the linker, or else that of Go's build info.
func buildVersion() results.Version {
	v := results.Version{Version: version, Commit: commit, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && v.Commit == "" {
			v.Commit = s.Value
		}
	}
	return v
}

func versionText() string {
	v := buildVersion()
	return fmt.Sprintf("weir %s\ncommit %s\n%s %s/%s\nengine: %s\n", v.Version, cmp.Or(v.Commit, "unknown"), v.Go,
		runtime.GOOS, runtime.GOARCH, engineBuilt())
}

// librariesText lists the fabrics of this host with the versions of their libraries.
func librariesText(fabrics map[string]results.Fabric) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(fabrics)) {
		f := fabrics[name]
		found := "absent, " + f.Reason
		if f.Available {
			found = cmp.Or(f.Version, "built in")
		}
		fmt.Fprintf(&b, "%s: %s\n", name, found)
	}
	return b.String()
}

func newVersion() *cobra.Command {
	var libraries bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print what weir was built from",
		Example: `  weir version
  weir version --libraries`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := versionText()
			if libraries {
				node, err := survey(cmd, nil)
				if err != nil {
					return exit.With(gate.ExitExecution, err)
				}
				text += librariesText(node.Fabrics)
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), text)
			return exit.With(gate.ExitExecution, err)
		},
	}
	cmd.Flags().BoolVar(&libraries, "libraries", false, "also print the libraries of fabrics that this host has")
	return cmd
}
