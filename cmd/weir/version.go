package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/results"
)

// Set by the linker for release builds.
var version, commit string

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
	return fmt.Sprintf("weir %s\ncommit %s\n%s %s/%s\n", v.Version, cmp.Or(v.Commit, "unknown"), v.Go, runtime.GOOS,
		runtime.GOARCH)
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the versions of weir and Go, and the commit",
		Example: "  weir version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), versionText())
			return err
		},
	}
}
