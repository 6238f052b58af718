package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/phase"
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
		{"no slower", []float64{10, 10.01, 10.02, 10, 10.01}, nil, results.Pass, "unpaired sessions=cross-session"},
		{"far slower", []float64{13.4, 13.41, 13.42}, nil, results.Fail, "unpaired sessions=cross-session"},
		{"slower, which sessions may be", []float64{12, 12.01, 12.02}, nil, results.InconclusiveVerdict,
			"sessions-unknown"},
		{"slower by more than sessions are known to be", []float64{12, 12.01, 12.02}, func(d *results.Document) {
			d.Noise = historyOf("c", 0.02)
		}, results.Fail, "sessions-vary from=history"},
		{"another environment", steady, func(d *results.Document) { d.Environment.Fingerprint = "sha256:02" },
			results.ErrorVerdict, "environment-unlike session=monday"},
		{"another environment, which may have none", steady, func(d *results.Document) {
			d.Environment.Fingerprint, d.Baseline.Missing = "sha256:02", results.SkipMissing
		}, results.SkippedVerdict, "environment-unlike session=monday"},
		{"an unknown environment", steady,
			func(d *results.Document) { d.Environment.Fingerprint, d.Baseline.Fingerprint = "", "" },
			results.ErrorVerdict, "environment-unknown"},
		{"an imported one, of an unknown environment", steady, func(d *results.Document) {
			d.Baseline.Fingerprint, d.Baseline.Imported = "", true
		}, results.Pass, "baseline-imported"},
		{"an imported one, far slower", []float64{13.4, 13.41, 13.42}, func(d *results.Document) {
			d.Baseline.Fingerprint, d.Baseline.Imported = "", true
		}, results.Fail, "baseline-imported"},
		{"no-baseline", steady, func(d *results.Document) { d.Baseline = nil }, results.ErrorVerdict, "no-baseline"},
		{"no such case", steady, func(d *results.Document) { d.Baseline.Cases[0].Key = "x" }, results.ErrorVerdict,
			"baseline-without-launch"},
		{"no launch", nil, nil, results.ErrorVerdict, "baseline-without-launch"},
		{"only disturbed launches", nil, func(d *results.Document) { d.Baseline.Cases[0].Disturbed = 3 },
			results.InconclusiveVerdict, "baseline-disturbed session=monday launches=3"},
		{"not a number", []float64{10, math.NaN()}, nil, results.ErrorVerdict,
			"metric-not-finite case=c launch=2 metric=bandwidth value=NaN"},
		{"zero", []float64{10, 0}, nil, results.ErrorVerdict, "not-above-zero case=c launch=2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, a := regression(steady, c.before)
			if c.spoil != nil {
				c.spoil(doc)
			}
			Judge(doc)
			wantVerdict(t, a, c.want)
			if !has(a.Reasons, c.says) {
				t.Errorf("message %q has not %q", a.Message, c.says)
			}
			if u := Undecided(doc); len(u) > 0 {
				t.Errorf("asks for launches of %v", u)
			}
		})
	}
}

// A decline that is beyond what sessions are assumed to vary fails beside other cases as it does alone: their launches
// pool noise with few degrees of freedom, and what is assumed has none.
func TestUnknownSessionsBesideOtherCases(t *testing.T) {
	now, before := []float64{8.2, 8.21, 8.2, 8.21, 8.2}, []float64{10, 10.01, 10, 10.01, 10}
	for _, others := range []int{0, 2, 6} {
		doc, a := regression(now, before)
		a.Looks = []int{5}
		for i := range others {
			doc.Cases = append(doc.Cases, caseOf(fmt.Sprint("o", i), before...))
		}
		if Judge(doc); a.Verdict != results.Fail {
			t.Errorf("beside %d cases: %s: %s", others, a.Verdict, a.Message)
		}
	}
}

// Values of another environment promise nothing of this one, whatever the statement's form.
func TestReferencesOfAnotherEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		here, there string
		want        results.Verdict
		reason      string
	}{
		"alike": {"sha256:01", "sha256:01", results.Pass, ""},
		"unlike": {"sha256:02", "sha256:01", results.ErrorVerdict,
			"environment-unlike table=p5"},
		"nobody knows": {"", "sha256:01", results.ErrorVerdict,
			"environment-unknown table=p5"},
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
			if a.Verdict != c.want || !has(a.Reasons, c.reason) {
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
	half := student(2, assertion.ConfidenceAt(results.Confidence, looks, 3)) * sd * math.Sqrt(4./3)
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

// historyOf is a history of how the sessions of a case vary.
func historyOf(key string, tau float64) []results.CaseNoise {
	return []results.CaseNoise{{Case: key, Metrics: []assertion.Noise{{
		Metric: "bandwidth", Launch: 0.02, KnowsSessions: true, Session: tau, From: "history",
	}}}}
}

// Two sessions that differ as sessions do hardly ever fail a gate that rests on the other, whether something is
// known of sessions or not, and a quarter less is found.
func TestBaselineGatesBetweenSessions(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	sessions := 300
	if phase.AtLength() {
		sessions = 2000
	}
	fails := func(tau, truth float64, known bool) float64 {
		count := 0
		for seed := range uint64(sessions) {
			r := rand.New(rand.NewPCG(seed, 11))
			side := func(n int, level float64) []float64 {
				return lognormals(r, n, level*math.Exp(tau*r.NormFloat64()), 0.02)
			}
			doc, a := regression(nil, side(8, 10))
			now := caseOf("c", side(looks[len(looks)-1], 10*truth)...)
			if known {
				doc.Noise = historyOf("c", tau)
			}
			for n := nextAnalysis(looks, 0); n > 0; n = nextAnalysis(looks, n) {
				doc.Cases[0].Launches = now.Launches[:n]
				Judge(doc)
				if len(Undecided(doc)) == 0 {
					break
				}
			}
			if a.Verdict == results.Fail {
				count++
			}
		}
		return 100 * float64(count) / float64(sessions)
	}
	for _, known := range []bool{false, true} {
		for _, tau := range []float64{0.01, 0.02, 0.03} {
			falsely, found := fails(tau, 1, known), fails(tau, 0.75, known)
			text := fmt.Sprintf("sessions vary by %.0f%%, known %v: %.2f%% of likes fail, %.1f%% at -25%%", tau*100,
				known, falsely, found)
			t.Log(text)
			if falsely > 2.5 || found < 90 {
				t.Error(text)
			}
		}
	}
}

// Where sessions of which nothing is known forbid a fail whatever launches say, none is asked for; where they may yet
// show it, they are.
func TestLaunchesThatUnknownSessionsMakeUseless(t *testing.T) {
	for _, c := range []struct {
		before float64
		asks   int
	}{{12, 0}, {12.3, 1}} {
		noisy := []float64{9.7, 10, 10.3}
		doc, a := regression(noisy, []float64{c.before, c.before, c.before, c.before})
		Judge(doc)
		if got := len(Undecided(doc)); a.Verdict != results.InconclusiveVerdict || got != c.asks {
			t.Errorf("%v: %s, asks for launches of %d cases: %s", c.before, a.Verdict, got, a.Message)
		}
	}
}

// Two or three launches of one side agree by chance. Beside more of the other side they pass at the bound as seldom as
// any number does.
func TestBaselinesOfFewLaunchesAtTheBound(t *testing.T) {
	phase.NotUnderRace(t)
	n := simulated(t, 1500, 20000)
	for _, c := range []struct{ before, now int }{{2, 12}, {3, 12}, {8, 2}, {8, 3}, {8, 12}} {
		passed := 0
		for seed := range uint64(n) {
			r := rand.New(rand.NewPCG(seed, 33))
			doc, a := regression(lognormals(r, c.now, 9.7, 0.03), lognormals(r, c.before, 10, 0.03))
			a.Looks = []int{c.now}
			if Judge(doc); a.Verdict == results.Pass {
				passed++
			}
		}
		if share := 100 * float64(passed) / float64(n); share > 3 {
			t.Errorf("%d launches against %d pass at the bound in %.1f %% of sessions", c.now, c.before, share)
		}
	}
}
