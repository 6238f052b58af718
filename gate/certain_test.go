package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// counts judges an assertion about a declared count, the bandwidth of cases, and returns it.
func counts(a *results.AssertionVerdict, cases ...*results.Case) *results.AssertionVerdict {
	for _, c := range cases {
		for _, l := range c.Launches {
			l.Metrics.Set("errors", l.Metrics.At("bandwidth"))
		}
	}
	doc := docOf(cases...)
	kind, _ := workload.Lookup("transfer")
	doc.Metrics = []results.MetricTable{{
		Workload: "transfer", Run: "run", Definitions: append(slices.Clone(kind.Metrics),
			workload.Metric{Name: "errors", Better: workload.Lower, MayBeZero: true}),
	}}
	own := cases[len(cases)-1]
	own.Assertions = []*results.AssertionVerdict{a}
	Judge(doc)
	return a
}

// bounded is a gate assertion on a subject without a unit.
func bounded(subject *assertion.Expr, b assertion.Bounds, at []int) *results.AssertionVerdict {
	a := band(nil, nil, at)
	a.Subject, a.Unit, a.Bounds = subject, "", b
	return a
}

// A value that is equal to the bound of < or > is outside.
func TestStrictBounds(t *testing.T) {
	for _, test := range []struct {
		value  float64
		bounds assertion.Bounds
		want   results.Verdict
		says   string
	}{
		{0, assertion.Bounds{Lower: p(0), Strict: true}, results.Fail, "n=12) <= 0"},
		{0, assertion.Bounds{Lower: p(0)}, results.Pass, ">= 0"},
		{0, assertion.Bounds{Upper: p(0), Strict: true}, results.Fail, ">= 0"},
		{1, assertion.Bounds{Lower: p(0), Strict: true}, results.Pass, "n=12) > 0"},
		{10, assertion.Bounds{Upper: p(10), Strict: true}, results.Fail, ">= 10"},
		{10, assertion.Bounds{Upper: p(10)}, results.Pass, "<= 10"},
		{9, assertion.Bounds{Upper: p(10), Strict: true}, results.Pass, "n=12) < 10"},
	} {
		c := caseOf("c", slices.Repeat([]float64{test.value}, 12)...)
		a := counts(bounded(metric("errors", ""), test.bounds, []int{12}), c)
		if a.Verdict != test.want || !strings.Contains(a.Message, test.says) {
			t.Errorf("%v against %+v: %s: %s", test.value, test.bounds, a.Verdict, a.Message)
		}
	}
}

// Launches beyond a look, as of a session that ended early, keep what the look decided.
func TestLaunchesBetweenLooks(t *testing.T) {
	values := []float64{100, 101, 99, 100, 101, 99, 100, 100, 101, 99, 100}
	for n := 3; n <= len(values); n++ {
		for bound, want := range map[float64]results.Verdict{200: results.Pass, 50: results.Fail} {
			a := band(nil, p(bound), looks)
			a.Decide = &assertion.Decide{OnInconclusive: map[float64]string{200: "fail", 50: "pass"}[bound]}
			judged(caseOf("c", values[:n]...), a)
			if a.Verdict != want {
				t.Errorf("%d launches against %v: %s: %s", n, bound, a.Verdict, a.Message)
			}
		}
	}
}

// Counts that are 0 in a launch have no ratio: the difference of the sides decides.
func TestComparisonsOfCountsThatMayBeZero(t *testing.T) {
	errors := func(of string) *assertion.Expr {
		return &assertion.Expr{Op: assertion.Metric, Metric: "errors", Case: of}
	}
	gain := &assertion.Expr{Op: assertion.Sub, Args: []*assertion.Expr{
		{Op: assertion.Const, Value: 1}, ratio(errors(""), errors("old")),
	}}
	for _, test := range []struct {
		name     string
		old, now []float64
		subject  *assertion.Expr
		bounds   assertion.Bounds
		want     results.Verdict
	}{
		{"250 times as many", []float64{0, 0, 1, 0, 0}, []float64{50, 60, 40, 50, 50},
			ratio(errors(""), errors("old")), assertion.Bounds{Upper: p(1)}, results.Fail},
		{"25 times as many", []float64{0, 0, 1, 0, 0}, []float64{5, 4, 6, 5, 5},
			ratio(errors(""), errors("old")), assertion.Bounds{Upper: p(2)}, results.Fail},
		{"one before, none now", []float64{1, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 0},
			gain, assertion.Bounds{Lower: p(0.99)}, results.InconclusiveVerdict},
		{"none on either side", []float64{0, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 0},
			gain, assertion.Bounds{Lower: p(0)}, results.Pass},
		{"none on either side are no gain", []float64{0, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 0},
			gain, assertion.Bounds{Lower: p(0.05)}, results.Fail},
		{"none before, some now", []float64{0, 0, 0, 0, 0}, []float64{5, 4, 6, 5, 5},
			gain, assertion.Bounds{Lower: p(0)}, results.Fail},
	} {
		old, now := caseOf("old", test.old...), caseOf("now", test.now...)
		a := bounded(test.subject, test.bounds, []int{5})
		a.Compared = true
		counts(a, old, now)
		if a.Verdict != test.want {
			t.Errorf("%s: %s: %s", test.name, a.Verdict, a.Message)
		}
	}
}

// 0 is no measurement of a metric that is declared to be above it: a comparison of two such metrics is an error, as a
// bound of one is, although 0 is at least 90 % of 0.
func TestComparisonOfNothingMeasured(t *testing.T) {
	for _, now := range []float64{0, 5} {
		a := against("old", p(0.9), nil, []int{3})
		a.Compared = true
		c := caseOf("now", now, now, now)
		c.Assertions = []*results.AssertionVerdict{a}
		Judge(docOf(c, caseOf("old", 0, 0, 0)))
		wantVerdict(t, a, results.ErrorVerdict)
		if !has(a.Reasons, "not-above-zero") {
			t.Error(a.Message)
		}
	}
}

// Whole numbers are amounts and have 0 as the least value: the interval of a mean does not cross a bound of 0.
func TestCountsHaveNoIntervalBelowZero(t *testing.T) {
	for _, b := range []assertion.Bounds{{Lower: p(0)}, {Lower: p(0), Upper: p(100)}} {
		a := counts(bounded(metric("errors", ""), b, []int{5}), caseOf("c", 0, 0, 30, 0, 0))
		if a.Verdict != results.Pass {
			t.Errorf("%+v: %s: %s", b, a.Verdict, a.Message)
		}
	}
}

// A count that is the same in all launches is no speed that a slow mode may change. At its bound it may be rounded, or
// be a larger one in other launches: if every tenth launch is, three launches show none in 73 % of sessions.
func TestSameCountInAllLaunches(t *testing.T) {
	for _, c := range []struct {
		value  float64
		bounds assertion.Bounds
		n      int
		want   results.Verdict
	}{
		{1, assertion.Bounds{Upper: p(2)}, 3, results.Pass},
		{0, assertion.Bounds{Upper: p(0)}, 3, results.Pass},
		{1, assertion.Bounds{Lower: p(1), Upper: p(1)}, 3, results.Pass},
		{1, assertion.Bounds{Upper: p(1)}, 3, results.InconclusiveVerdict},
		{1, assertion.Bounds{Upper: p(1)}, 8, results.InconclusiveVerdict},
		{1, assertion.Bounds{Upper: p(1)}, 12, results.Pass},
		{10, assertion.Bounds{Lower: p(5), Upper: p(10)}, 8, results.InconclusiveVerdict},
	} {
		of := caseOf("c", slices.Repeat([]float64{c.value}, c.n)...)
		a := counts(bounded(metric("errors", ""), c.bounds, looks), of)
		if a.Verdict != c.want {
			t.Errorf("%d launches of %v: %s: %s", c.n, c.value, a.Verdict, a.Message)
		}
		inTime := band(c.bounds.Lower, c.bounds.Upper, looks) // a speed, rounded to whole numbers
		if judged(caseOf("c", slices.Repeat([]float64{c.value}, c.n)...), inTime); c.n == 8 &&
			inTime.Verdict != c.want {
			t.Errorf("%d launches of %v GB/s: %s: %s", c.n, c.value, inTime.Verdict, inTime.Message)
		}
	}
}

// An error that a later launch of the session had fails a bound of 0, though the first look passed.
func TestLaterErrorRefutesABoundOfZero(t *testing.T) {
	later := caseOf("c", 0, 0, 0, 1, 0, 0, 0, 0)
	a := counts(bounded(metric("errors", ""), assertion.Bounds{Upper: p(0)}, looks), later)
	if a.Verdict != results.Fail || !has(a.Reasons, "above-least") {
		t.Errorf("%s: %s", a.Verdict, a.Message)
	}
}

// A launch that is far better than the others does not make a bound uncertain that all of them keep.
func TestGoodOutlierDoesNotHinderAPass(t *testing.T) {
	values := []float64{100, 101, 99, 1, 100, 100.5, 99.5, 100.2, 100.1, 99.9, 100.3, 99.7}
	for bound, want := range map[float64]results.Verdict{110: results.Pass, 100: results.InconclusiveVerdict} {
		a := band(nil, p(bound), []int{12})
		judged(caseOf("c", values...), a)
		if a.Verdict != want || !has(a.Reasons, "outliers") {
			t.Errorf("<= %v: %s: %s", bound, a.Verdict, a.Message)
		}
	}
	a := band(p(90), nil, []int{12}) // from below it is no good one
	if judged(caseOf("c", values...), a); a.Verdict != results.InconclusiveVerdict {
		t.Errorf(">= 90: %s: %s", a.Verdict, a.Message)
	}
}

// A case that is far quieter than the others of its run is judged by its own launches.
func TestQuietCaseBesideNoisyOnes(t *testing.T) {
	noisy := []float64{8, 12, 10, 7, 13, 11, 9, 12, 8, 10, 13, 7}
	cases := []*results.Case{caseOf("a", noisy...), caseOf("b", noisy...), caseOf("d", noisy...)}
	quiet := caseOf("c", slices.Repeat([]float64{10}, 12)...)
	a := band(nil, p(11), []int{12})
	quiet.Assertions = []*results.AssertionVerdict{a}
	if Judge(docOf(append(cases, quiet)...)); a.Verdict != results.Pass {
		t.Errorf("%s: %s", a.Verdict, a.Message)
	}
}
