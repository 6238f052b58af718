package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"weir/gate"
	"weir/reporters"
	"weir/results"
)

func newGate() *cobra.Command {
	var (
		style   styleFlags
		reports reportFlags
	)
	cmd := &cobra.Command{
		Use:   "gate RESULTS",
		Short: "judge stored launches again, offline",
		Long: `gate computes all estimates and verdicts again from the launches that a result
document holds, prints the table, and exits by the verdicts. RESULTS is a
results.json or a session directory; it is not changed.`,
		Example: `  weir gate weir-out/20261121-101500-quickstart-3f9a
  weir gate results.json --quiet && echo held`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := reports.parse()
			if err != nil {
				return err
			}
			frugal(args[0])
			doc, err := results.Read(args[0])
			if err != nil {
				return withCode(gate.ExitUsage, err)
			}
			if err := doc.Complete(); err != nil {
				return withCode(gate.ExitStale, err)
			}
			gate.Judge(doc)
			if err := write(wanted, doc, sessionDir(args[0]), cmd.OutOrStdout()); err != nil {
				return withCode(gate.ExitExecution, err)
			}
			w := cmd.OutOrStdout()
			if !style.quiet && !toStdout(wanted) {
				if err := reporters.Table(w, doc, style.color(w), width(w)); err != nil {
					return withCode(gate.ExitExecution, fmt.Errorf("printing the table: %w", err))
				}
			}
			return exit(doc.Session.ExitCode)
		},
	}
	style.add(cmd.Flags())
	reports.add(cmd.Flags())
	return cmd
}
