package main

import (
	"github.com/spf13/cobra"

	"weir/dsl/jsonschema"
	"weir/gate"
	"weir/results"
)

func newSchema() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of scenarios, or of another document",
		Long: `schema prints the JSON Schema of scenarios in YAML, which gives editors completion,
hover texts and errors while typing. An editor with yaml-language-server reads it
if the file begins with the line

  # yaml-language-server: $schema=weir.schema.json`,
		Example: `  weir schema > weir.schema.json
  weir schema results > results.schema.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return onlySubcommands(cmd, args)
			}
			b, err := jsonschema.Scenario()
			if err != nil {
				return withCode(gate.ExitInternal, err)
			}
			_, err = cmd.OutOrStdout().Write(b)
			return withCode(gate.ExitExecution, err)
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
