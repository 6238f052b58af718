package main

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"weir/dsl"
	"weir/executor/ledger"
	"weir/gate"
	"weir/planner"
	"weir/reporters"
	"weir/results"
)

func newGate() *cobra.Command {
	var (
		style   styleFlags
		reports reportFlags

		allSamples bool
		scenario   string
		variables  variableFlags
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
			wanted, err := reports.parse()
			if err != nil {
				return err
			}
			doc, err := readWhole(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if doc, err = checkSamples(doc, sessionDir(args[0]), allSamples, cmd.ErrOrStderr()); err != nil {
				return err
			}
			if doc, err = rejudged(cmd, doc, scenario, &variables); err != nil {
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
	cmd.Flags().StringVar(&scenario, "scenario", "", "judge by the assertions of the scenario (or saved plan) `FILE`")
	variables.add(cmd.Flags())
	cmd.Flags().BoolVar(&allSamples, "samples", false, fmt.Sprintf("check all samples files, also where there are more than %d launches with some", mostSampled))
	style.add(cmd.Flags())
	reports.add(cmd.Flags())
	return cmd
}

// rejudged is a document with the assertions of a scenario, if one is given.
func rejudged(cmd *cobra.Command, doc *results.Document, scenario string, flags *variableFlags) (*results.Document, error) {
	if scenario == "" {
		if vars, err := flags.values(); err != nil || len(vars) > 0 {
			return nil, cmp.Or(err, wrongUsage("--var is for the scenario of --scenario FILE"))
		}
		return doc, nil
	}
	options, err := flags.options()
	if err != nil {
		return nil, err
	}
	p, err := planFor(cmd, scenario, options, doc)
	if err != nil {
		return nil, err
	}
	out, left, err := ledger.Rejudge(p, doc)
	if err != nil {
		return nil, withCode(gate.ExitUsage, fmt.Errorf("judging by %s: %w", scenario, err))
	}
	if left > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s has nothing like %d of the %d cases of the document; they are left out\n", scenario, left, len(doc.Cases))
	}
	return out, nil
}

// planFor plans a scenario with the variables of a session. One that has other
// variables is planned without them.
func planFor(cmd *cobra.Command, scenario string, options dsl.Options, doc *results.Document) (*planner.Plan, error) {
	if !isPlan(scenario) {
		all := maps.Clone(doc.Scenario.Variables)
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, options.Vars)
		with := options
		with.Vars = all
		if _, _, diags, err := load(scenario, with); err == nil && !diags.HasErrors() {
			options = with
		}
	}
	plans, err := readAll(cmd, []string{scenario}, options)
	if err != nil {
		return nil, err
	}
	if len(plans) != 1 {
		return nil, wrongUsage("--scenario %s: name one scenario", scenario)
	}
	return plans[0], nil
}
