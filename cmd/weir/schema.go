package main

import (
	"github.com/spf13/cobra"

	"weir/gate"
	"weir/results"
)

func newSchema() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "schema",
		Short:   "print the JSON Schema of a document",
		Example: "  weir schema results > results.schema.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return onlySubcommands(cmd, args)
			}
			return wrongUsage(`this version has no schema of the scenario language; "weir schema results" prints that of result documents`)
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use:     "results",
		Short:   "print the JSON Schema of result documents",
		Example: "  weir schema results > results.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(results.JSONSchema)
			return withCode(gate.ExitExecution, err)
		},
	})
	return cmd
}
