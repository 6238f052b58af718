//go:build man

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/gate"
)

// init adds a command for scripts/dist, which builds with the tag man: the program itself renders no manual pages.
func init() {
	extra = append(extra, &cobra.Command{
		Use: "man DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Title: "WEIR", Section: "1", Source: "weir " + version, Manual: "weir"}
			return exit.With(gate.ExitExecution, doc.GenManTree(root, header, args[0]))
		},
	})
}
