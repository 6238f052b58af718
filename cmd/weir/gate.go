package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"weir/gate"
	"weir/reporters"
)

func newGate() *cobra.Command {
	var (
		style   styleFlags
		reports reportFlags

		allSamples bool
	)
	cmd := &cobra.Command{
		Use:   "gate RESULTS",
		Short: "judge stored launches again, offline",
		Long: `gate computes all estimates and verdicts again from the launches that a result
document holds, prints the table, and exits by the verdicts. RESULTS is a
results.json or a session directory; it is not changed.

A document that was changed since it was written is not judged: a value, a bound, a
launch or a case that was edited or is gone ends with 7, and so does a file of raw
samples beside the document that is not the one that was measured.`,
		Example: `  weir gate weir-out/20261121-101500-quickstart-3f9a
  weir gate results.json --quiet && echo held`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := reports.parse()
			if err != nil {
				return err
			}
			doc, err := readWhole(args[0])
			if err != nil {
				return err
			}
			if err := checkSamples(doc, sessionDir(args[0]), allSamples, cmd.ErrOrStderr()); err != nil {
				return err
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
	cmd.Flags().BoolVar(&allSamples, "samples", false, fmt.Sprintf("check all samples files, also where there are more than %d launches with some", mostSampled))
	style.add(cmd.Flags())
	reports.add(cmd.Flags())
	return cmd
}
