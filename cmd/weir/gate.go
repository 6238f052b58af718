package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/spf13/cobra"

	"weir/cmd/weir/exit"
	"weir/cmd/weir/input"
	"weir/cmd/weir/reports"
	"weir/cmd/weir/screen"
	"weir/cmd/weir/stored"
	"weir/dsl"
	"weir/executor/ledger"
	"weir/gate"
	"weir/planner"
	"weir/reporters"
	"weir/results"
)

func newGate() *cobra.Command {
	var (
		style screen.Style
		asked reports.Flags

		allSamples bool
		scenario   string
		variables  input.Variables
	)
	cmd := &cobra.Command{
		Use:   "gate RESULTS",
		Short: "judge stored launches again, offline",
		Long: `gate computes all estimates and verdicts again from the launches that a result
document holds, prints the table, and exits by the verdicts. RESULTS is a
results.json or a session directory; it is not changed.

A document that was changed since it was written is not judged: a value, a bound, a
launch or a case that was edited or is gone ends with 7, and so does a file of raw
samples beside the document that is not the one that was measured. Of transfers the
metrics that follow from the samples alone are computed again; those of other
workloads, and of preparing, clocks, processors and ceilings, are not in them.
Quantiles that an older version computed in another way (up to one rank low) are
those of the samples, if all launches have some; reports say which numbers changed.

With --scenario the launches are judged by what that file asserts now. A case stands
for the one that did the same, whatever its name: the same workload with the same
options and environment variables. What nobody measured is an error. Variables have
the values of the session, but for those of --var. --report json=FILE writes the
document with the new assertions.`,
		Example: `  weir gate weir-out/20261121-101500-quickstart-3f9a
  weir gate results.json --quiet && echo held
  weir gate results.json --scenario stricter.yaml --report json=stricter.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := asked.Parse()
			if err != nil {
				return err
			}
			doc, err := stored.Read(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if doc, err = stored.CheckSamples(doc, stored.Dir(args[0]), allSamples, cmd.ErrOrStderr()); err != nil {
				return err
			}
			if doc, err = rejudged(cmd, doc, scenario, &variables); err != nil {
				return err
			}
			gate.Judge(doc)
			w := cmd.OutOrStdout()
			err = reports.Write(wanted, doc, stored.Dir(args[0]), w)
			if !style.Quiet && !reports.ToStdout(wanted) {
				err = errors.Join(err, reports.Print(w, "printing the table", func(to io.Writer) error {
					return reporters.Table(to, doc, style.Color(w), screen.Width(w))
				}))
			}
			return reports.End(doc.Session.ExitCode, err)
		},
	}
	cmd.Flags().StringVar(&scenario, "scenario", "", "judge by the assertions of the scenario (or saved plan) `FILE`")
	variables.Add(cmd.Flags())
	cmd.Flags().BoolVar(&allSamples, "samples", false,
		fmt.Sprintf("check all samples files, also where there are more than %d launches with some",
			stored.MostSampled))
	style.Add(cmd.Flags())
	asked.Add(cmd.Flags())
	return cmd
}

// rejudged is a document with the assertions of a scenario, if one is given.
func rejudged(cmd *cobra.Command, doc *results.Document, scenario string, flags *input.Variables) (*results.Document,
	error) {
	if scenario == "" {
		if vars, err := flags.Values(); err != nil || len(vars) > 0 {
			return nil, cmp.Or(err, exit.Usage("--var is for the scenario of --scenario FILE"))
		}
		return doc, nil
	}
	options, err := flags.Options()
	if err != nil {
		return nil, err
	}
	p, err := planFor(cmd, scenario, options, doc)
	if err != nil {
		return nil, err
	}
	out, left, err := ledger.Rejudge(p, doc)
	if err != nil {
		return nil, exit.With(gate.ExitUsage, fmt.Errorf("judging by %s: %w", scenario, err))
	}
	if left > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s has nothing like %d of the %d cases of the document; they are left out\n",
			scenario, left, len(doc.Cases))
	}
	return out, nil
}

// planFor plans a scenario with the variables of a session. One that has other
// variables is planned without them.
func planFor(cmd *cobra.Command, scenario string, options dsl.Options, doc *results.Document) (*planner.Plan, error) {
	if !input.IsPlan(scenario) {
		all := maps.Clone(doc.Scenario.Variables)
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, options.Vars)
		with := options
		with.Vars = all
		if _, _, diags, err := input.Load(scenario, with); err == nil && !diags.HasErrors() {
			options = with
		}
	}
	plans, err := input.ReadAll(cmd, []string{scenario}, options)
	if err != nil {
		return nil, err
	}
	if len(plans) != 1 {
		return nil, exit.Usage("--scenario %s: name one scenario", scenario)
	}
	return plans[0], nil
}
