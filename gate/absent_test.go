package gate

import (
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// overCases is one value over the cases of some keys.
func overCases(op assertion.Op, lower float64, keys ...string) *results.AssertionVerdict {
	a := band(p(lower), nil, looks)
	a.Subject = &assertion.Expr{Op: op}
	a.Cases = keys
	for _, k := range keys {
		leaf := metric("bandwidth", "GB/s")
		leaf.Case = k
		a.Subject.Args = append(a.Subject.Args, leaf)
	}
	return a
}

// Whatever is stated over several cases, it does not hold because one of them was
// not reached; that another fails still tells.
func TestNothingHoldsOverCasesThatWereNotReached(t *testing.T) {
	for name, test := range map[string]struct {
		a    func(keys []string) *results.AssertionVerdict
		last float64 // bandwidth of the last case
		want results.Verdict
	}{
		"all": {func(keys []string) *results.AssertionVerdict {
			return quantified("all", p(5), looks,
				keys...)
		}, 9, results.SkippedVerdict},
		"all, one fails": {func(keys []string) *results.AssertionVerdict {
			return quantified("all", p(5), looks,
				keys...)
		}, 1, results.Fail},
		"min": {func(keys []string) *results.AssertionVerdict {
			return overCases(assertion.Min, 5,
				keys...)
		}, 9, results.SkippedVerdict},
		"geomean": {func(keys []string) *results.AssertionVerdict {
			return overCases(assertion.Geomean, 5,
				keys...)
		}, 9, results.SkippedVerdict},
		"trend": {func(keys []string) *results.AssertionVerdict {
			return trend("increases", 0, looks,
				keys...)
		}, 9, results.SkippedVerdict},
		"any, one passes": {func(keys []string) *results.AssertionVerdict {
			return quantified("any", p(5), looks,
				keys...)
		}, 9, results.Pass},
	} {
		for _, reason := range []string{
			results.NotRun, results.NotRun + ": --fail-fast: x", results.NotRun + ": needs x, which failed: y",
		} {
			cases, keys := series(nil, []float64{8, 8, 8}, []float64{test.last, test.last, test.last})
			cases[0].Status, cases[0].Reason = results.Skipped, reason
			doc := docOf(cases...)
			a := test.a(keys)
			doc.Assertions = []*results.AssertionVerdict{a}
			Judge(doc)
			if a.Verdict != test.want {
				t.Errorf("%s, %q: %s, want %s: %s", name, reason, a.Verdict, test.want, a.Message)
			}
		}
	}
}

func TestAggregatesAreOverTheCasesThatRan(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*results.Document)
		want  results.Verdict
		says  string
	}{
		{"all ran", func(*results.Document) {}, results.Fail, "below"},
		{"the slow one was skipped", func(d *results.Document) { d.Cases[0].Status = results.Skipped }, results.Pass,
			"cases-not-run cases=1"},
		{"a fast one was skipped", func(d *results.Document) { d.Cases[1].Status = results.Skipped }, results.Fail,
			"cases-not-run cases=1"},
		{"none ran", func(d *results.Document) {
			for _, c := range d.Cases {
				c.Status = results.Skipped
			}
		}, results.SkippedVerdict, "none-ran"},
		{"one was not reached",
			func(d *results.Document) { d.Cases[0].Status, d.Cases[0].Reason = results.Skipped, results.NotRun },
			results.SkippedVerdict, "case-not-run status=skipped"},
		{"one was not reached: --fail-fast", func(d *results.Document) {
			d.Cases[0].Status, d.Cases[0].Reason = results.Skipped,
				results.NotRun+": --fail-fast: case x failed: killed"
		}, results.SkippedVerdict, "case-not-run status=skipped"},
		{"what one needs failed", func(d *results.Document) {
			d.Cases[0].Status, d.Cases[0].Reason = results.Skipped, results.NotRun+": needs x, which failed: killed"
		}, results.SkippedVerdict, "case-not-run status=skipped"},
		{"what one needs was left out", func(d *results.Document) {
			d.Cases[0].Status, d.Cases[0].Reason = results.Skipped, "needs x, which was skipped: no GPU"
		}, results.Pass, "cases-not-run cases=1"},
		{"the session was cut off",
			func(d *results.Document) { d.Cases[0].Status, d.Session.ExitCode = results.Skipped, ExitInterrupted },
			results.SkippedVerdict, "case-not-run status=skipped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cases, keys := series([]float64{1, 1, 1}, []float64{9, 9, 9}, []float64{9, 9, 9})
			doc := docOf(cases...)
			a := overCases(assertion.Min, 5, keys...)
			doc.Assertions = []*results.AssertionVerdict{a}
			c.spoil(doc)
			Judge(doc)
			wantVerdict(t, a, c.want)
			if !has(a.Reasons, c.says) {
				t.Errorf("message %q has not %q", a.Message, c.says)
			}
		})
	}
}
