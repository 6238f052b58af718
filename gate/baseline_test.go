package gate

import (
	"math"
	"strings"
	"testing"

	"weir/assertion"
	"weir/results"
)

// regression is a case against the same case of a baseline with these values.
func regression(now, before []float64) (*results.Document, *results.AssertionVerdict) {
	a := band(p(0.97), nil, looks)
	stored := &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s", Case: "c", Baseline: true}
	a.Subject, a.Unit = ratio(metric("bandwidth", "GB/s"), stored), ""
	c := caseOf("c", now...)
	c.Assertions = []*results.AssertionVerdict{a}
	doc := docOf(c)
	doc.Environment.Fingerprint = "sha256:01"
	doc.Baseline = &results.Baseline{
		Session: "monday", Fingerprint: "sha256:01", Cases: []results.BaselineCase{{Key: "c"}},
	}
	for _, v := range before {
		b := &doc.Baseline.Cases[0]
		b.Launches = append(b.Launches, results.ValuesOf(map[string]float64{"bandwidth": v}))
	}
	return doc, a
}

func TestBaseline(t *testing.T) {
	steady := []float64{10, 10.01, 10.02}
	for _, c := range []struct {
		name   string
		before []float64
		spoil  func(*results.Document)
		want   results.Verdict
		says   string
	}{
		{"no slower", []float64{10, 10.01, 10.02, 10, 10.01}, nil, results.Pass, "cross-session, unpaired"},
		{"slower", []float64{12, 12.01, 12.02}, nil, results.Fail, "cross-session"},
		{"another environment", steady, func(d *results.Document) { d.Environment.Fingerprint = "sha256:02" },
			results.ErrorVerdict, "cross-environment: the environment is unlike the baseline's (session monday)"},
		{"an unknown environment", steady,
			func(d *results.Document) { d.Environment.Fingerprint, d.Baseline.Fingerprint = "", "" },
			results.ErrorVerdict, "cross-environment"},
		{"no baseline", steady, func(d *results.Document) { d.Baseline = nil }, results.ErrorVerdict, "no baseline"},
		{"no such case", steady, func(d *results.Document) { d.Baseline.Cases[0].Key = "x" }, results.ErrorVerdict,
			"no launch of this case"},
		{"no launch", nil, nil, results.ErrorVerdict, "no launch of this case"},
		{"not a number", []float64{10, math.NaN()}, nil, results.ErrorVerdict,
			"baseline of c: launch 2: metric bandwidth is NaN"},
		{"zero", []float64{10, 0}, nil, results.ErrorVerdict, "baseline of c: launch 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, a := regression(steady, c.before)
			if c.spoil != nil {
				c.spoil(doc)
			}
			Judge(doc)
			wantVerdict(t, a, c.want)
			if !strings.Contains(a.Message, c.says) {
				t.Errorf("message %q does not say %q", a.Message, c.says)
			}
			if u := Undecided(doc); len(u) > 0 {
				t.Errorf("asks for launches of %v", u)
			}
		})
	}
}

// Values of another environment promise nothing of this one, whatever the statement's form.
func TestReferencesOfAnotherEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		here, there string
		want        results.Verdict
		says        string
	}{
		"alike": {"sha256:01", "sha256:01", results.Pass, ""},
		"unlike": {"sha256:02", "sha256:01", results.ErrorVerdict,
			"cross-environment: the environment is unlike that of the references (table p5)"},
		"nobody knows": {"", "sha256:01", results.ErrorVerdict,
			"cross-environment: nothing shows that the environment is like that of the references (table p5)"},
		"of no table":    {"sha256:02", "", results.Pass, ""},
		"no environment": {"", "", results.Pass, ""},
	} {
		of := caseOf("c", 10, 10.01, 10.02)
		single := band(p(7), nil, looks)
		parts := &results.AssertionVerdict{Assertion: assertion.Assertion{Severity: assertion.Gate, Quantifier: "all",
			Cases: []string{"c"},
			Parts: []assertion.Part{{Subject: metric("bandwidth", "GB/s"), Unit: "GB/s", Bounds: single.Bounds,
				Case: "c"}}}, Looks: looks}
		parts.Parts[0].Subject.Case = "c"
		if c.there != "" {
			single.Reference = &assertion.Reference{Table: "p5", Environment: c.there}
			parts.Reference = single.Reference
		}
		of.Assertions = []*results.AssertionVerdict{single}
		doc := docOf(of)
		doc.Assertions = []*results.AssertionVerdict{parts}
		doc.Environment.Fingerprint = c.here
		Judge(doc)
		for _, a := range []*results.AssertionVerdict{single, parts} {
			if a.Verdict != c.want || !strings.Contains(a.Message, c.says) {
				t.Errorf("%s: %s, %s", name, a.Verdict, a.Message)
			}
		}
		if u := Undecided(doc); len(u) > 0 {
			t.Errorf("%s: asks for launches of %v", name, u)
		}
	}
}

// A baseline of one launch is taken to be as noisy as the case is now: by hand,
// the variance of the log ratio is s²(1/3 + 1) with 2 degrees of freedom.
func TestBaselineOfOneLaunchBorrowsItsNoise(t *testing.T) {
	now := []float64{9, 10, 11}
	doc, a := regression(now, []float64{10})
	Judge(doc)
	center, sd := moments(logs(now))
	center -= math.Log(10)
	half := student(2, assertion.AtLook(results.Confidence, looks, 3)) * sd * math.Sqrt(4./3)
	want := &results.Observed{
		Value: math.Exp(center), CI: &[2]float64{math.Exp(center - half), math.Exp(center + half)}, N: 3,
	}
	if !near(a.Observed, want, 1e-9) {
		t.Errorf("observed %+v %v, want %v", a.Observed, a.Observed.CI, want.CI)
	}
}

// The launches that looks count are this session's: a baseline gets no more.
func TestBaselineDoesNotCountForLooks(t *testing.T) {
	doc, a := regression([]float64{9, 10, 11}, []float64{10, 10.1})
	Judge(doc)
	wantVerdict(t, a, results.InconclusiveVerdict)
	if a.Observed.N != 3 || len(Undecided(doc)) != 1 {
		t.Errorf("n=%d, undecided %v", a.Observed.N, Undecided(doc))
	}
}
