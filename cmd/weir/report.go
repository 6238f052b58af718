package main

import (
	"github.com/spf13/cobra"

	"weir/cmd/weir/exit"
	"weir/cmd/weir/reports"
	"weir/cmd/weir/stored"
	"weir/gate"
)

func newReport() *cobra.Command {
	var asked reports.Flags
	cmd := &cobra.Command{
		Use:   "report RESULTS --report FORMAT[=PATH]",
		Short: "write reports of stored results",
		Long: `report writes a result document in other formats, as it was judged. RESULTS is a
results.json or a session directory. Reports without a path go beside it, but for
those whose readers look at stdout; "weir docs reports" has all formats. Of documents
by older versions, whose quantiles are up to one rank low, they say for which of
them the raw samples beside it give another value.

html is one page for a browser, with charts of each run, traffic matrices and the
definition of every number. It asks no host for anything. Charts need scripts; where
these are forbidden, as Jenkins shows it, all tables and verdicts are there. Raw
samples are drawn where they are beside the document.`,
		Example: `  weir report weir-out/20261121-101500-quickstart-3f9a --report markdown=-
  weir report results.json --report junit=junit.xml --report csv=cells.csv
  weir report weir-out/20261121-101500-quickstart-3f9a --report html    # report.html beside the results
  weir report results.json --report github`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := asked.Parse()
			if err != nil {
				return err
			}
			if len(wanted) == 0 {
				return exit.Usage("nothing to write: give --report FORMAT[=PATH]")
			}
			doc, err := stored.Read(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			doc = stored.ReportedSamples(doc, stored.Dir(args[0]), cmd.ErrOrStderr())
			return exit.With(gate.ExitExecution, reports.Write(wanted, doc, stored.Dir(args[0]), cmd.OutOrStdout()))
		},
	}
	asked.Add(cmd.Flags())
	return cmd
}
