package gate

import (
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// total is the geometric mean of the bandwidth of some cases, of this session or of the baseline.
func total(stored bool, keys ...string) *assertion.Expr {
	e := &assertion.Expr{Op: assertion.Geomean}
	for _, key := range keys {
		leaf := of(key, "bandwidth", "GB/s")
		leaf.Baseline = stored
		e.Args = append(e.Args, leaf)
	}
	return e
}

// A case that did not run, or that the baseline lacks, counts on neither side of a comparison of aggregates.
func TestAggregatesCompareTheSameCases(t *testing.T) {
	sizes := func(run string, values ...float64) (cases []*results.Case, keys []string) {
		for i, v := range values {
			key := run + string(rune('1'+i))
			c := caseOf(key, v, v*1.001, v*0.999)
			c.Axes = map[string]any{"block_size": i, "run of " + run: i}
			cases, keys = append(cases, c), append(keys, key)
		}
		return cases, keys
	}
	leftOut := func(c *results.Case) { c.Status, c.Reason, c.Launches = results.Skipped, "--only", nil }
	for _, c := range []struct {
		name       string
		old, now   []float64
		spoil      func(d *results.Document, old, now []*results.Case)
		stored     bool
		otherSizes bool
		want       results.Verdict
	}{
		{"both ran", []float64{1, 100}, []float64{1, 100}, nil, false, false, results.Pass},
		{"a fast one of the new run did not", []float64{1, 100}, []float64{1, 100},
			func(_ *results.Document, _, now []*results.Case) { leftOut(now[1]) }, false, false, results.Pass},
		{"a slow one of the new run did not, and the other is slower", []float64{1, 100}, []float64{1, 50},
			func(_ *results.Document, _, now []*results.Case) { leftOut(now[0]) }, false, false, results.Fail},
		{"a fast one of the old run did not, and the other is slower", []float64{1, 100}, []float64{0.5, 100},
			func(_ *results.Document, old, _ []*results.Case) { leftOut(old[1]) }, false, false, results.Fail},
		{"one case did not, which the baseline has", []float64{1, 100}, []float64{1, 100},
			func(_ *results.Document, _, now []*results.Case) { leftOut(now[1]) }, true, false, results.Pass},
		{"the baseline lacks one", []float64{1, 100}, []float64{1, 100},
			func(d *results.Document, _, _ []*results.Case) {
				d.Baseline.Cases, d.Baseline.Missing = d.Baseline.Cases[:1], results.SkipMissing
			}, true, false, results.Pass},
		{"runs of other sizes have no counterparts", []float64{1, 100}, []float64{1, 100},
			func(_ *results.Document, _, now []*results.Case) { leftOut(now[1]) }, false, true, results.Fail},
	} {
		old, oldKeys := sizes("old", c.old...)
		now, nowKeys := sizes("new", c.now...)
		if c.otherSizes {
			for _, o := range old {
				o.Axes = map[string]any{"batch": 1}
			}
		}
		a := band(p(0.9), nil, []int{3})
		a.Unit = ""
		doc := docOf(append(now, old...)...)
		doc.Environment.Fingerprint = "sha256:01"
		a.Subject = ratio(total(false, nowKeys...), total(false, oldKeys...))
		if c.stored {
			a.Subject = ratio(total(false, nowKeys...), total(true, nowKeys...))
			doc.Cases = now
			doc.Baseline = &results.Baseline{Session: "monday", Fingerprint: "sha256:01"}
			for i, o := range old {
				stored := results.BaselineCase{Key: nowKeys[i]}
				for _, l := range o.Launches {
					stored.Launches = append(stored.Launches, l.Metrics)
				}
				doc.Baseline.Cases = append(doc.Baseline.Cases, stored)
			}
		}
		if c.spoil != nil {
			c.spoil(doc, old, now)
		}
		doc.Assertions = []*results.AssertionVerdict{a}
		if Judge(doc); a.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, a.Verdict, c.want, a.Message)
		}
	}
}
