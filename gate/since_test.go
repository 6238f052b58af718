package gate

import (
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// What became of a metric is what a comparison says of it, and what only one session
// has measured is not told of.
func TestSinceSaysWhatACompareSays(t *testing.T) {
	base, now := separate([]float64{10, 10.1, 9.9}, []float64{8, 8.1, 7.9})
	p := Since(base, now)
	c, err := Compare(base, now, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Since) == 0 || len(p.Since) != len(c.Effects) {
		t.Fatalf("%d changes, and the comparison has %d effects", len(p.Since), len(c.Effects))
	}
	for i, s := range p.Since {
		e := c.Effects[i]
		if s.Case != e.Case || s.Metric != e.Metric || s.Base.Value != e.Base.Value ||
			s.Change.Value != e.Change.Value {
			t.Errorf("%+v, and the comparison says %+v", s, e)
		}
	}
	now.Cases = nil
	if p := Since(base, now); len(p.Since) != 0 || p.Session != base.Session.ID {
		t.Errorf("of a session without cases: %+v", p)
	}
}

// An asserted metric that cannot be compared is counted, with the reason.
func TestSinceListsWhatIsNotCompared(t *testing.T) {
	values := []float64{10, 10.1, 9.9}
	base, now := separate(values, values)
	for _, key := range []string{"discarded", "new"} {
		c := caseOf(key, values...)
		c.Assertions = []*results.AssertionVerdict{band(p(0.1), nil, nil), band(p(0.2), nil, nil)}
		now.Cases = append(now.Cases, c)
	}
	lost := caseOf("discarded", values...)
	disturb(lost, 0.5, 0, 1, 2)
	base.Cases = append(base.Cases, lost)
	got := Since(base, now)
	want := []results.NotCompared{
		{Case: "discarded", Metric: "bandwidth", Reason: "no undisturbed launch in the earlier session"},
		{Case: "new", Metric: "bandwidth", Reason: "not measured in the earlier session"},
	}
	if len(got.Since) != 1 || !slices.Equal(got.NotCompared, want) {
		t.Errorf("%d compared; %+v", len(got.Since), got.NotCompared)
	}
}

// A metric of requests that failed has no end, and so no change that could be told.
func TestSinceLeavesOutValuesWithoutEnd(t *testing.T) {
	base, now := separate([]float64{10, 10.1, 9.9}, []float64{10, 10.1, 9.9})
	for _, l := range now.Cases[0].Launches {
		l.Metrics.Set("bandwidth", results.Unbounded)
	}
	got := Since(base, now)
	const why = "it has no end in one of the sessions"
	if len(got.Since) != 0 || len(got.NotCompared) != 1 || got.NotCompared[0].Reason != why {
		t.Errorf("%+v, %+v", got.Since, got.NotCompared)
	}
}

// How the sessions beside the baseline vary is known: a change need not be found for sessions that vary by 5 %, too.
func TestSinceAllowsForTheSessionsBesideTheBaseline(t *testing.T) {
	base, now := separate([]float64{10, 10.001, 9.999}, []float64{9.9, 9.901, 9.899})
	if c := Since(base, now).Since[0].Change; c.Found || !c.Assumes {
		t.Errorf("nothing is known: %+v", c)
	}
	kept := assertion.Noise{Metric: "bandwidth", Session: 1e-4, SessionDF: 3}
	now.Baseline = &results.Baseline{Sessions: []results.CaseNoise{{
		Case: "a", Environment: "sha256:1", Metrics: []assertion.Noise{kept},
	}}}
	if c := Since(base, now).Since[0].Change; !c.Found || c.Assumes {
		t.Errorf("sessions vary by 0.01 %%: %+v", c)
	}
	if now.Baseline.Sessions[0].Metrics[0] != kept {
		t.Error("the document itself has changed")
	}
}
