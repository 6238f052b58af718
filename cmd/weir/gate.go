package main

import (
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/cmd/weir/reports"
	"github.com/weir-bench/weir/cmd/weir/run"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
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
		Short: "judge stored results again, offline",
		Long: `gate recomputes all estimates and verdicts from the launches in a result document,
prints the table, and exits by the verdicts. RESULTS is a results.json or a session
directory; it is not changed.

A document that was changed after it was written is not judged: an edited or missing
value, bound, launch or case ends with exit code 7, as does a file of raw samples that
is not the measured one. For transfers, the metrics that follow from the raw samples
are recomputed; for other workloads, and for preparation, clocks, processors and
ceilings, the samples have no data. Quantiles of an older version, which are up to one
rank low, are recomputed if all launches have samples; reports say which changed.

With --scenario, the launches are judged by the assertions of that file, and compared with
the baseline that it names, unless the session has it already. A case matches
a measured case of any name with the same workload, options and environment variables.
A case that was not measured is an error. Variables have the values of the session,
except those of --var. --report json=FILE writes the document with the new assertions.`,
		Example: `  weir gate weir-out/20261121-101500-quickstart-3f9a
  weir gate results.json --quiet && echo held
  weir gate results.json --scenario stricter.yaml --report json=stricter.json`,
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
			if doc, err = stored.CheckSamples(doc, dir, allSamples, cmd.ErrOrStderr()); err != nil {
				return err
			}
			if doc, err = rejudged(cmd, doc, scenario, &variables); err != nil {
				return err
			}
			if err := asked.Check(doc); err != nil {
				return err
			}
			gate.Judge(doc)
			if err := reports.Compare(wanted, doc, dir, "", stored.Read, cmd.ErrOrStderr()); err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			err = reports.Write(wanted, doc, dir, w)
			if !style.Quiet && !reports.ToStdout(wanted) {
				err = errors.Join(err, asked.Table(w, doc, style.Color(w), screen.Width(w)))
			}
			return reports.End(doc.Session.ExitCode, err)
		},
	}
	cmd.Flags().StringVar(&scenario, "scenario", "", "judge by the assertions of a scenario or saved plan `FILE`")
	variables.Add(cmd.Flags())
	cmd.Flags().BoolVar(&allSamples, "samples", false,
		fmt.Sprintf("check all samples files (default: only up to %d launches)", stored.MostSampled))
	style.Add(cmd.Flags())
	asked.Add(cmd.Flags())
	return cmd
}

// rejudged is the document with the assertions of a scenario, if one is given.
func rejudged(cmd *cobra.Command, doc *results.Document, scenario string, flags *input.Variables) (*results.Document,
	error) {
	if scenario == "" {
		if len(flags.Vars)+len(flags.Files) > 0 {
			return nil, exit.Usage("--var and --var-file are for the scenario of --scenario FILE")
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
	if err := takeBaseline(p, out, cmd.ErrOrStderr()); err != nil {
		return nil, err
	}
	if left > 0 {
		screen.Say(cmd.ErrOrStderr(), fmt.Sprintf("note: %s has no match for %d of the %d cases of the document; they are left out",
			scenario, left, len(doc.Cases)))
	}
	return out, nil
}

// takeBaseline gives a document the baseline that a scenario names. A session that was compared with this file has it
// already, as it was then.
func takeBaseline(p *planner.Plan, doc *results.Document, notes io.Writer) error {
	text, has := ledger.UsesBaseline(p), doc.Baseline != nil && doc.Baseline.Absent == ""
	switch {
	case text == "" || has && (p.Baseline == "" || p.Baseline == doc.Baseline.File):
		return nil
	case p.Baseline == "" && doc.Baseline != nil:
		return nil // its absence is no error
	case p.Baseline == "":
		return exit.Usage("%s: the assertion %q needs a baseline, and the session has none; name one in the scenario: baseline: {file: FILE}",
			p.Scenario.File, text)
	}
	options, err := run.ScenarioBaseline(p, notes)
	if err != nil {
		return err
	}
	return ledger.TakeBaseline(p, doc, options)
}

// planFor plans a scenario with the variables of a session, or without them if it has other variables.
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
