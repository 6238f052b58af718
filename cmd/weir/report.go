package main

import (
	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/reports"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/gate"
)

func newReport() *cobra.Command {
	var asked reports.Flags
	var baseline string
	var style screen.Style
	cmd := &cobra.Command{
		Use:   "report RESULTS [--report FORMAT[=PATH]]",
		Short: "write reports of stored results",
		Long: `report writes a result document in other formats, with its verdicts. RESULTS is a
results.json or a session directory. Without --report it prints the table of weir run.
Reports without a path are written beside it, or to stdout: "weir docs reports" lists
the formats with their paths. Quantiles in documents of older versions are up to one
rank low; reports say which of them the raw samples beside the document change.

html is a self-contained page for a browser, with charts of each run, traffic matrices
and the definition of every number. Charts need scripts; where these are blocked, as in
Jenkins, all tables and verdicts are still there. Raw samples are plotted if they are
beside the document.`,
		Example: `  weir report weir-out/20261121-101500-quickstart-3f9a
  weir report weir-out/20261121-101500-quickstart-3f9a --report markdown=-
  weir report results.json --report junit=junit.xml --report csv=cells.csv
  weir report weir-out/20261121-101500-quickstart-3f9a --report html    # report.html beside the results
  weir report results.json --report github
  weir report results.json --report comment=- --baseline main/results.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := asked.Parse()
			if err != nil {
				return err
			}
			dir := stored.Dir(args[0])
			doc, err := stored.Read(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := asked.Check(doc); err != nil {
				return err
			}
			doc = stored.ReportedSamples(doc, dir, cmd.ErrOrStderr())
			out := cmd.OutOrStdout()
			if len(wanted) == 0 {
				return exit.With(gate.ExitExecution, asked.Table(out, doc, style.Color(out), screen.Width(out)))
			}
			if err := reports.Compare(wanted, doc, dir, baseline, stored.Read, cmd.ErrOrStderr()); err != nil {
				return err
			}
			return exit.With(gate.ExitExecution, reports.Write(wanted, doc, dir, out))
		},
	}
	cmd.Flags().StringVar(&baseline, "baseline", "",
		"result document or session `FILE` that format comment compares with (default: the session's baseline)")
	asked.Add(cmd.Flags())
	return cmd
}
