package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/scenarios"
)

func newCatalog() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "list the shipped scenarios",
		Example: `  weir catalog
  weir catalog show nixlbench-libfabric
  weir plan catalog:nixlbench-libfabric`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return onlySubcommands(cmd, args)
			}
			out := screen.Folded(cmd.OutOrStdout())
			width := 0
			for _, e := range scenarios.Entries() {
				width = max(width, len(e.Name))
			}
			for _, e := range scenarios.Entries() {
				p, _, diags, err := input.Read(input.CatalogPrefix+e.Name, dsl.Options{})
				if err != nil {
					return err
				}
				if diags.HasErrors() {
					return exit.With(gate.ExitInternal, fmt.Errorf("shipped scenario %s: %w", e.Name, diags))
				}
				if _, err := fmt.Fprintf(out, "%-*s  %s\n", width, e.Name, p.Scenario.Description); err != nil {
					return exit.With(gate.ExitExecution, err)
				}
			}
			_, err := fmt.Fprint(out, `
Run one:       weir run catalog:NAME, with --var NAME=VALUE for its variables
Look first:    weir plan catalog:NAME
Make it yours: weir catalog show NAME > mine.yaml
`)
			return exit.With(gate.ExitExecution, err)
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use:     "show NAME",
		Short:   "print a shipped scenario",
		Example: "  weir catalog show nixlbench-libfabric > mine.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := scenarios.Lookup(args[0])
			if err != nil {
				return exit.With(gate.ExitUsage, err)
			}
			_, err = cmd.OutOrStdout().Write(e.Content)
			if err == nil {
				_, err = fmt.Fprintln(cmd.ErrOrStderr(), runCommand(e.Name))
			}
			return exit.With(gate.ExitExecution, err)
		},
	})
	return cmd
}

// runCommand is a hint with the command that runs an entry, with its variables.
func runCommand(name string) string {
	text := "run it: weir run catalog:" + name
	scenario, _, diags, err := input.Load(input.CatalogPrefix+name, dsl.Options{})
	if err != nil || diags.HasErrors() {
		return text
	}
	for _, v := range scenario.Variables {
		text += fmt.Sprintf(" [--var %s=…]", v.Name)
	}
	return text
}
