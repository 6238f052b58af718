package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/interop/importer"
)

// newDocsImport is the page of the flags of other benchmarks.
func newDocsImport() *cobra.Command {
	return &cobra.Command{
		Use: "import [TOOL]", Short: "the flags of nixlbench and other tools, and how weir import maps them",
		Example: "  weir docs import nixlbench", Args: cobra.MaximumNArgs(1), ValidArgs: importer.Tools(),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := strings.Join(args, "")
			page, known := importer.Flags(name)
			if !known {
				return exit.Usage("there is no tool %q. %s", name, suggest.Sentence(name, importer.Tools(), "tools"))
			}
			_, err := io.WriteString(cmd.OutOrStdout(), screen.Reflow(page, screen.Width(cmd.OutOrStdout())))
			return exit.With(gate.ExitExecution, err)
		},
	}
}
