package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"weir/cmd/weir/exit"
	"weir/cmd/weir/screen"
	"weir/gate"
	"weir/suggest"
	"weir/toolimport"
)

// newDocsImport lists the flags of tools.
func newDocsImport() *cobra.Command {
	return &cobra.Command{
		Use: "import [TOOL]", Short: "flags of nixlbench and other tools, and what weir import makes of them",
		Example: "  weir docs import nixlbench", Args: cobra.MaximumNArgs(1), ValidArgs: toolimport.Tools(),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := strings.Join(args, "")
			page, known := toolimport.Flags(name)
			if !known {
				return exit.Usage("there is no tool %q. %s", name, suggest.Sentence(name, toolimport.Tools(), "tools"))
			}
			_, err := io.WriteString(cmd.OutOrStdout(), reflow(page, screen.Width(cmd.OutOrStdout())))
			return exit.With(gate.ExitExecution, err)
		},
	}
}
