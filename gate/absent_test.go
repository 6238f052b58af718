package gate

import (
	"strings"
	"testing"

	"weir/assertion"
	"weir/results"
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

func TestAggregatesAreOverTheCasesThatRan(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*results.Document)
		want  results.Verdict
		says  string
	}{
		{"all ran", func(*results.Document) {}, results.Fail, "min("},
		{"the slow one was skipped", func(d *results.Document) { d.Cases[0].Status = results.Skipped }, results.Pass, "; 1 case did not run and does not count"},
		{"a fast one was skipped", func(d *results.Document) { d.Cases[1].Status = results.Skipped }, results.Fail, "1 case did not run"},
		{"none ran", func(d *results.Document) {
			for _, c := range d.Cases {
				c.Status = results.Skipped
			}
		}, results.SkippedVerdict, noneRan},
		{"one was not reached", func(d *results.Document) { d.Cases[0].Status, d.Cases[0].Reason = results.Skipped, results.NotRun }, results.SkippedVerdict, "c0: skipped"},
		{"the session was cut off", func(d *results.Document) { d.Cases[0].Status, d.Session.ExitCode = results.Skipped, ExitInterrupted }, results.SkippedVerdict, "c0: skipped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cases, keys := series([]float64{1, 1, 1}, []float64{9, 9, 9}, []float64{9, 9, 9})
			doc := docOf(cases...)
			a := overCases(assertion.Min, 5, keys...)
			doc.Assertions = []*results.AssertionVerdict{a}
			c.spoil(doc)
			Judge(doc)
			wantVerdict(t, a, c.want)
			if !strings.Contains(a.Message, c.says) {
				t.Errorf("message %q does not say %q", a.Message, c.says)
			}
		})
	}
}
