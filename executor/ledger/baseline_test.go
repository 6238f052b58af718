package ledger

import (
	"testing"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// A resumed session was compared when it began; the baseline is not read again.
func TestResumedSessionKeepsWhatDiffersFromTheBaseline(t *testing.T) {
	l := &Ledger{
		Plan: &planner.Plan{}, Doc: &results.Document{
			Baseline: &results.Baseline{Session: "former", Differences: []results.Difference{{What: "weir"}}},
		},
	}
	l.CompareBaseline(false)
	l.o.Baseline = &results.Document{Session: results.Session{ID: "another"}}
	l.CompareBaseline(false)
	if got := l.Doc.Baseline.Differences; len(got) != 1 || got[0].What != "weir" {
		t.Errorf("differences %v", got)
	}
}
