package run

import (
	"io"

	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/planner"
)

// ScenarioBaseline reads the baseline that a scenario names, as a session of it would.
func ScenarioBaseline(p *planner.Plan, notes io.Writer) (ledger.Options, error) {
	all, err := new(flags).baselines([]*planner.Plan{p}, notes)
	if err != nil {
		return ledger.Options{}, err
	}
	b := all[0]
	return ledger.Options{
		Baseline: b.doc, BaselineFile: b.file, BaselineSessions: b.sessions, SkipMissing: b.skip,
	}, nil
}
