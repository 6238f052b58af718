package gate

import (
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// took gives the launches of cases start times as if the cases took turns.
func took(turns ...*results.Case) {
	var order []int
	for range turns[0].Launches {
		for i := range turns {
			order = append(order, i)
		}
	}
	began(order, turns...)
}

// A launch that is far from the others leaves no doubt of what all launches show, in any form of an assertion over
// several cases.
func TestOneOutlierAmongSeveralCases(t *testing.T) {
	a := []float64{99, 100, 101, 100, 99, 101, 100, 100}
	a12 := append(slices.Clone(a), 99, 100, 100, 101)
	worse := []float64{79, 80, 81, 80, 8, 81, 80, 79} // a fifth, and a launch of a tenth
	worse12 := append(slices.Clone(worse), 79.5, 80, 80, 80)
	better := []float64{119, 120, 121, 120, 1200, 121, 120, 119}
	one := &assertion.Expr{Op: assertion.Const, Value: 1}
	bw := func(key string) *assertion.Expr { return of(key, "bandwidth", "GB/s") }
	over := func(op assertion.Op) *assertion.Expr {
		return &assertion.Expr{Op: op, Args: []*assertion.Expr{bw("c0"), bw("c1")}}
	}
	for _, c := range []struct {
		name    string
		old     []float64
		now     []float64
		subject *assertion.Expr
		unit    string
		lower   float64
		want    results.Verdict
	}{
		{"a ratio that misses", a, worse, ratio(bw("c1"), bw("c0")), "", 0.97, results.Fail},
		{"the same with 12 launches", a12, worse12, ratio(bw("c1"), bw("c0")), "", 0.97, results.Fail},
		{"a ratio that holds", a, better, ratio(bw("c1"), bw("c0")), "", 1.05, results.Pass},
		{"a gain that holds", a, better,
			&assertion.Expr{Op: assertion.Sub, Args: []*assertion.Expr{ratio(bw("c1"), bw("c0")), one}}, "", 0.1,
			results.Pass},
		{"a difference that holds", a, better,
			&assertion.Expr{Op: assertion.Sub, Args: []*assertion.Expr{bw("c1"), bw("c0")}}, "GB/s", 3, results.Pass},
		{"a mean that holds", a, better, over(assertion.Mean), "GB/s", 97, results.Pass},
		{"a geometric mean that holds", a, better, over(assertion.Geomean), "GB/s", 97, results.Pass},
		{"the least that misses", a, worse, over(assertion.Min), "GB/s", 97, results.Fail},
		{"the least that holds", a, better, over(assertion.Min), "GB/s", 97, results.Pass},
		{"the largest that holds", a, better, over(assertion.Max), "GB/s", 97, results.Pass},
	} {
		cases, keys := series(c.old, c.now)
		took(cases...)
		v := band(p(c.lower), nil, looks)
		v.Subject, v.Unit, v.Cases = c.subject, c.unit, keys
		doc := docOf(cases...)
		doc.Assertions = []*results.AssertionVerdict{v}
		Judge(doc)
		if v.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, v.Verdict, c.want, v.Message)
		}
	}
}

func TestOneOutlierInATrend(t *testing.T) {
	a := []float64{99, 100, 101, 100, 99, 101, 100, 100}
	for name, c := range map[string]struct {
		now       []float64
		direction string
		want      results.Verdict
	}{
		"the wrong way, and one launch more so": {[]float64{79, 80, 81, 80, 8, 81, 80, 79}, "increases", results.Fail},
		"the right way, and one launch more so": {[]float64{79, 80, 81, 80, 8, 81, 80, 79}, "decreases", results.Pass},
		"the right way, one far": {[]float64{119, 120, 121, 120, 1200, 121, 120, 119}, "increases",
			results.Pass},
		"the right way, one not": {[]float64{119, 12, 121, 120, 120, 121, 120, 119}, "increases",
			results.InconclusiveVerdict},
		"modes, all the wrong way": {[]float64{79, 40, 81, 20, 8, 81, 40, 79}, "increases", results.Fail},
	} {
		cases, keys := series(a, c.now)
		v := trend(c.direction, 0, looks, keys...)
		doc := docOf(cases...)
		doc.Assertions = []*results.AssertionVerdict{v}
		Judge(doc)
		if v.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", name, v.Verdict, c.want, v.Message)
		}
	}
}

func TestOneOutlierInAComparison(t *testing.T) {
	a := []float64{100, 101, 99, 100, 100.5, 99.5, 100, 101}
	for name, c := range map[string]struct {
		now  []float64
		want results.EffectVerdict
	}{
		"worse, and one launch more so":  {[]float64{80, 81, 79, 80, 80.4, 8, 80, 81}, results.Regression},
		"better, and one launch more so": {[]float64{120, 121, 119, 120, 120.4, 1200, 120, 121}, results.NoRegression},
		"better, one launch not":         {[]float64{120, 121, 119, 120, 120.4, 12, 120, 121}, results.Unclear},
	} {
		cmp, err := CompareRuns(alternating(a, c.now), "a", "b", options)
		if e := only(t, cmp, err); e.Verdict != c.want || e.Change.Found != (c.want == results.Regression) {
			t.Errorf("%s: %s, found %v: %s", name, e.Verdict, e.Change.Found, e.Message)
		}
	}
}

// A second mode that is better than the bound by far widens the interval, and is no reason for doubt.
func TestGoodModeDoesNotHinderAPass(t *testing.T) {
	slow := []float64{95.2, 95.8, 94.9, 95.1, 9.4, 95.5, 9.6, 95.3, 95.0, 9.5, 95.4, 95.1}
	for bound, want := range map[float64]results.Verdict{100: results.Pass, 95: results.InconclusiveVerdict} {
		a := band(nil, p(bound), looks)
		a.Subject, a.Unit = metric("latency.p50", "us"), "us"
		c := caseOf("c", slow...)
		for i, l := range c.Launches {
			l.Metrics.Set("latency.p50", slow[i])
		}
		if judged(c, a); a.Verdict != want {
			t.Errorf("<= %v: %s, want %s: %s", bound, a.Verdict, want, a.Message)
		}
	}
}

// One value above 0 refutes an upper bound of 0 also of a fraction, and of a sum or a mean of counts.
func TestOneErrorRefutesABoundOfZero(t *testing.T) {
	none, some := make([]float64, 12), []float64{0, 0, 0, 0.02, 0, 0, 0, 0, 0, 0, 0, 0}
	counted := []float64{0, 2, 1, 0, 0, 0, 3, 0, 0, 1, 0, 0}
	both := func(op assertion.Op) *assertion.Expr {
		return &assertion.Expr{Op: op, Args: []*assertion.Expr{of("old", "errors", ""), of("now", "errors", "")}}
	}
	for _, c := range []struct {
		name     string
		old, now []float64
		subject  *assertion.Expr
		want     results.Verdict
	}{
		{"a fraction", none, some, of("now", "errors", ""), results.Fail},
		{"no error", none, none, of("now", "errors", ""), results.Pass},
		{"a signed value", none, []float64{0, 0.2, 0.1, -0.3, 0.2, 0, 0.1, 0.1, -0.1, 0.2, 0, 0.1},
			of("now", "errors", ""), results.InconclusiveVerdict},
		{"a mean", none, counted, both(assertion.Mean), results.Fail},
		{"a sum", none, counted, both(assertion.Add), results.Fail},
		{"the largest", none, some, both(assertion.Max), results.Fail},
	} {
		a := counts(bounded(c.subject, assertion.Bounds{Upper: p(0)}, looks), caseOf("old", c.old...),
			caseOf("now", c.now...))
		if a.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, a.Verdict, c.want, a.Message)
		}
		if ci := a.Observed.CI; ci != nil && ci[0] < 0 && c.name != "a signed value" {
			t.Errorf("%s: the interval of counts begins at %v", c.name, ci[0])
		}
	}
}
