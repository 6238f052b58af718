package main

import (
	"fmt"
	"io"
	"slices"

	"weir/executor"
	"weir/planner"
	"weir/results"
)

// baseline is the document that baseline.METRIC is taken from.
type baseline struct {
	doc  *results.Document
	file string
}

// baselines reads the baseline of each plan that mentions one, before anything
// runs. That of the flag is read whether or not one does. A resumed session has
// its own.
func (f *runFlags) baselines(plans []*planner.Plan, notes io.Writer) ([]baseline, error) {
	all := make([]baseline, len(plans))
	used, err := f.checkBaseline(plans)
	if err != nil {
		return nil, err
	}
	if f.baseline != "" && !used {
		fmt.Fprintf(notes, "note: --baseline %s: no assertion mentions the baseline, so nothing is compared with it\n", f.baseline)
	}
	for i, p := range plans {
		if p == nil || f.resume != "" {
			continue
		}
		text := executor.UsesBaseline(p)
		if text == "" {
			continue
		}
		file := f.baseline
		if file == "" {
			file = p.Baseline
		}
		if file == "" {
			return nil, wrongUsage("%s: the assertion %q mentions the baseline, and there is none; give one with --baseline FILE, or as baseline in the scenario", p.Scenario.File, text)
		}
		doc, err := results.Read(file)
		if err != nil {
			return nil, wrongUsage("the baseline of %s: %w", p.Scenario.File, err)
		}
		if doc.Scenario.Name != p.Scenario.Name {
			fmt.Fprintf(notes, "note: the baseline %s is of scenario %s, not of %s; cases are compared by their keys\n", file, doc.Scenario.Name, p.Scenario.Name)
		}
		all[i] = baseline{doc, file}
	}
	return all, nil
}

// checkBaseline makes sure that the flag's baseline can be read, and says whether
// any plan mentions one.
func (f *runFlags) checkBaseline(plans []*planner.Plan) (used bool, err error) {
	if f.baseline == "" {
		return false, nil
	}
	if _, err := results.Read(f.baseline); err != nil {
		return false, wrongUsage("--baseline: %w", err)
	}
	return slices.ContainsFunc(plans, func(p *planner.Plan) bool { return p != nil && executor.UsesBaseline(p) != "" }), nil
}
