package main

import (
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
// runs. A resumed session has its own.
func (f *runFlags) baselines(plans []*planner.Plan) ([]baseline, error) {
	all := make([]baseline, len(plans))
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
		all[i] = baseline{doc, file}
	}
	return all, nil
}
