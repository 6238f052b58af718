package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"weir/results"
)

// Set by the linker for release builds.
var version, commit string

// buildVersion is what this program was built from: what the linker was told,
// otherwise what the Go toolchain recorded.
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

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version of weir, its commit and its Go",
		Example: "  weir version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := buildVersion()
			c := v.Commit
			if c == "" {
				c = "unknown"
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "weir %s\ncommit %s\n%s %s/%s\n", v.Version, c, v.Go, runtime.GOOS,
				runtime.GOARCH)
			return err
		},
	}
}
