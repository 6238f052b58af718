package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/dsl/jsonschema"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
)

func newSchema() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of scenarios, results or events",
		Long: `schema prints the JSON Schema of scenarios in YAML, for completion, hover texts and
errors in editors. An editor with yaml-language-server uses it if the file begins
with the line

  # yaml-language-server: $schema=weir.schema.json

The path is relative to the scenario, and no network is needed. weir init --schema
writes both. An editor for a whole project maps the file to its scenarios instead, as
yaml.schemas of VS Code: {"weir.schema.json": "scenarios/*.yaml"}.`,
		Example: `  weir schema > weir.schema.json
  weir schema results > results.schema.json
  weir schema events > events.schema.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return onlySubcommands(cmd, args)
			}
			b, err := jsonschema.Scenario()
			if err != nil {
				return exit.With(gate.ExitInternal, err)
			}
			_, err = cmd.OutOrStdout().Write(b)
			return exit.With(gate.ExitExecution, err)
		},
	}
	cmd.AddCommand(
		fixedSchema("results", "print the JSON Schema of result documents", results.JSONSchema),
		fixedSchema("events", "print the JSON Schema of the lines of weir run --events, with the meaning of each event",
			event.Schema),
	)
	return cmd
}

// fixedSchema is a command that prints a schema.
func fixedSchema(name, short string, schema []byte) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Example: fmt.Sprintf("  weir schema %s > %[1]s.schema.json", name), Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(schema)
			return exit.With(gate.ExitExecution, err)
		},
	}
}
