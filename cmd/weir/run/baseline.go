package run

import (
	"fmt"
	"io"

	"weir/cmd/weir/exit"
	"weir/cmd/weir/stored"
	"weir/executor/ledger"
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
func (f *flags) baselines(plans []*planner.Plan, notes io.Writer) ([]baseline, error) {
	var given *results.Document
	if f.baseline != "" {
		var err error
		if given, err = stored.Read(f.baseline, notes); err != nil {
			return nil, fmt.Errorf("--baseline: %w", err)
		}
	}
	all := make([]baseline, len(plans))
	used := false
	for i, p := range plans {
		if p == nil {
			continue
		}
		text := ledger.UsesBaseline(p)
		if text == "" {
			continue
		}
		used = true
		if f.resume != "" {
			continue
		}
		doc, file := given, f.baseline
		if doc == nil {
			file = p.Baseline
			if file == "" {
				return nil, exit.Usage("%s: the assertion %q mentions the baseline, and there is none; give one with --baseline FILE, or as baseline in the scenario",
					p.Scenario.File, text)
			}
			var err error
			if doc, err = stored.Read(file, notes); err != nil {
				return nil, fmt.Errorf("the baseline of %s: %w", p.Scenario.File, err)
			}
		}
		if doc.Scenario.Name != p.Scenario.Name {
			fmt.Fprintf(notes, "note: the baseline %s is of scenario %s, not of %s; cases are compared by their keys\n",
				file, doc.Scenario.Name, p.Scenario.Name)
		}
		all[i] = baseline{doc, file}
	}
	if given != nil && !used {
		fmt.Fprintf(notes, "note: --baseline %s: no assertion mentions the baseline, so no verdict rests on it; reports say what has changed since\n",
			f.baseline)
		if f.previous == "" {
			f.previous, f.earlier = f.baseline, given
		}
	}
	return all, nil
}
