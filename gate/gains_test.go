package gate

import (
	"math"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// varied is a document of run r with variants old and new, which took turns.
func varied(old, now []float64) *results.Document {
	doc := alternating(old, now)
	for i, c := range doc.Cases {
		c.Run, c.Axes = "r", map[string]any{"variant": []string{"old", "new"}[i], "block_size": "1MiB"}
	}
	doc.Gains = []*results.Gains{{Run: "r", Baseline: "old"}}
	return doc
}

func TestGainsOfVariants(t *testing.T) {
	doc := varied([]float64{10, 10.1, 9.9, 10}, []float64{12, 12.12, 11.88, 12})
	Judge(doc)
	rows := doc.Gains[0].Rows
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	g := rows[0]
	if g.Variant != "new" || g.Metric != "bandwidth" || g.Case != doc.Cases[1].Key || g.BaseCase != doc.Cases[0].Key ||
		g.Pairs != 4 || len(g.Axes) != 1 || math.Abs(g.Gain.Value-0.2) > 1e-9 || !g.Gain.Found ||
		g.Gain.CI[0] > 0.2 || g.Gain.CI[1] < 0.2 {
		t.Errorf("%+v %+v", g, g.Gain)
	}
	seal := *g.Gain.CI
	Judge(doc)
	if again := doc.Gains[0].Rows; len(again) != 1 || *again[0].Gain.CI != seal {
		t.Errorf("judging again gives %+v", again)
	}
}

// A lower latency is better, so it is a positive gain.
func TestGainIsPositiveWhereBetter(t *testing.T) {
	for _, c := range []struct {
		better   string
		additive bool
		change   float64
		ci       [2]float64
		gain     float64
		wantCI   [2]float64
	}{
		{"higher", false, 1.62, [2]float64{1.5, 1.7}, 0.62, [2]float64{0.5, 0.7}},
		{"higher", false, 0.9, [2]float64{0.8, 1.1}, -0.1, [2]float64{-0.2, 0.1}},
		{"lower", false, 0.6, [2]float64{0.5, 0.7}, 0.4, [2]float64{0.3, 0.5}},
		{"lower", true, 2, [2]float64{1, 3}, -2, [2]float64{-3, -1}},
		{"higher", true, 2, [2]float64{1, 3}, 2, [2]float64{1, 3}},
	} {
		change := &results.Change{Value: c.change, CI: &c.ci}
		e := &results.Effect{Better: c.better, Additive: c.additive, Change: change}
		g := results.GainOf(e)
		if g.Value != c.gain || *g.CI != c.wantCI {
			t.Errorf("%+v: %v %v", c, g.Value, *g.CI)
		}
		if e.Change.Value != c.change {
			t.Error("the change of the effect was altered")
		}
	}
}

func TestGainsThatCannotBeTold(t *testing.T) {
	doc := varied([]float64{10, 10.1, 9.9, 10}, []float64{12, 12.1, 11.9, 12})
	doc.Cases[1].Status, doc.Cases[1].Reason = results.Error, "it broke"
	Judge(doc)
	rows := doc.Gains[0].Rows
	if len(rows) != 1 || rows[0].Gain != nil || !strings.Contains(rows[0].Message, "it broke") {
		t.Errorf("%+v", rows)
	}
	doc = varied([]float64{10}, []float64{12})
	Judge(doc)
	if g := doc.Gains[0].Rows[0]; g.Gain == nil || g.Gain.CI != nil || g.Gain.Found {
		t.Errorf("one launch each: %+v", g.Gain)
	}
	doc = varied([]float64{10, 10, 10}, []float64{12, 12, 12})
	doc.Cases[1].Status, doc.Cases[1].Launches = results.Excluded, nil
	Judge(doc)
	if rows = doc.Gains[0].Rows; rows == nil || len(rows) != 0 {
		t.Errorf("an excluded variant has rows %+v", rows)
	}
}

// Without an assertion about a metric, all metrics with a direction are in the table.
func TestGainsWithoutAssertions(t *testing.T) {
	doc := varied([]float64{10, 10.1, 9.9, 10}, []float64{12, 12.12, 11.88, 12})
	for _, c := range doc.Cases {
		c.Assertions = []*results.AssertionVerdict{}
	}
	doc.Assertions = []*results.AssertionVerdict{}
	Judge(doc)
	for _, g := range doc.Gains[0].Rows {
		if g.Metric == "bandwidth" && g.Gain.Found {
			return
		}
	}
	t.Errorf("%+v", doc.Gains[0].Rows)
}

// Variants are held against the baseline, whatever the order of an axis, and a third too.
func TestComparingWithTheBaselineOfVariants(t *testing.T) {
	doc := varied([]float64{12, 12.1, 11.9}, []float64{10, 10.1, 9.9})
	doc.Gains[0].Baseline = "new"
	c, err := CompareAxis(doc, "variant", "", nil, options)
	if e := only(t, c, err); e.BaseCase != doc.Cases[1].Key || e.Verdict != results.Improved {
		t.Errorf("%+v", e)
	}
	third := caseOf("c", 11, 11.1, 10.9)
	third.Run, third.Axes = "r", map[string]any{"variant": "third", "block_size": "1MiB"}
	third.Assertions = []*results.AssertionVerdict{band(p(0.1), nil, nil)}
	doc.Cases = append(doc.Cases, third)
	if c, err = CompareAxis(doc, "variant", "", nil, options); err != nil || len(c.Effects) != 2 ||
		c.New.Part != "variant=old, third" {
		t.Errorf("%v %+v", err, c)
	}
	doc.Cases = doc.Cases[:1]
	if _, err = CompareAxis(doc, "variant", "", nil, options); err == nil ||
		!strings.Contains(err.Error(), "no other value to compare with") {
		t.Error(err)
	}
}

// A metric that may be zero has a gain in percent where it is not.
func TestGainsOfMetricsThatMayBeZero(t *testing.T) {
	for _, c := range []struct {
		old, now []float64
		additive bool
		text     string
	}{
		{[]float64{4e-6, 4.04e-6, 3.96e-6}, []float64{1e-6, 1.01e-6, 0.99e-6}, false, "+75.0"},
		{[]float64{4e-6, 4.04e-6, 3.96e-6}, []float64{0, 1e-6, 0}, true, "+3.7"},
	} {
		doc := varied([]float64{10, 10, 10}, []float64{10, 10, 10})
		for i, values := range [][]float64{c.old, c.now} {
			for j, l := range doc.Cases[i].Launches {
				l.Metrics.Set("skew", values[j])
			}
			of := band(p(0), nil, nil)
			of.Subject = &assertion.Expr{Op: assertion.Metric, Metric: "skew", Unit: "s"}
			doc.Cases[i].Assertions = []*results.AssertionVerdict{of}
		}
		Judge(doc)
		if len(doc.Gains[0].Rows) != 1 {
			t.Fatalf("%+v", doc.Gains[0].Rows)
		}
		g := doc.Gains[0].Rows[0]
		text, low, _ := g.Text()
		if g.Metric != "skew" || g.Additive != c.additive || !strings.HasPrefix(text, c.text) || low == "" {
			t.Errorf("%v -> %v: %s from %s, additive %v: %s", c.old, c.now, text, low, g.Additive, g.Message)
		}
	}
}
