package gate

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

var (
	inBand  = []float64{46, 46.1, 46.2}
	outBand = []float64{39, 39.1, 39.2}
	noisy   = []float64{38, 42, 46}
)

func TestHalo(t *testing.T) {
	for _, c := range []struct {
		name   string
		at     []int
		values []float64
		want   results.Verdict
		reason string
	}{
		{"in the band", looks, inBand, results.Pass, "inside lower=40 upper=50"},
		{"in the halo below", looks, []float64{39, 39.1, 39.2}, results.WarnVerdict,
			"in-halo halo=0.05"},
		{"in the halo above", looks, []float64{51, 51.1, 51.2}, results.WarnVerdict, "in-halo"},
		{"beyond the halo", looks, []float64{37, 37.1, 37.2}, results.Fail, "below lower=40"},
		{"over the end of the halo", looks, []float64{37.8, 38, 38.2}, results.InconclusiveVerdict,
			"crosses widened_lower=38"},
		{"over both ends", []int{3}, []float64{36, 39.5, 43}, results.InconclusiveVerdict,
			"crosses lower=40 of_halo=0.05 widened_lower=38"},
		{"over the end of the band", looks, []float64{39.8, 40, 40.2}, results.InconclusiveVerdict,
			"crosses lower=40"},
		{"over the end of the band at the last look", []int{3}, []float64{39.8, 40, 40.2}, results.WarnVerdict,
			"in-halo"},
		{"over the end of the halo at the last look", []int{3}, []float64{37.8, 38, 38.2}, results.InconclusiveVerdict,
			"last-look"},
		{"a single launch", []int{1}, []float64{39}, results.WarnVerdict, "in-halo"},
	} {
		a := known(0.003, band(p(40), p(50), c.at))
		a.Halo = 0.05
		doc := judged(caseOf("c", c.values...), a)
		wantVerdict(t, a, c.want)
		if !has(a.Reasons, c.reason) {
			t.Errorf("%s: message %q lacks %s", c.name, a.Message, c.reason)
		}
		if a.Verdict == results.WarnVerdict && doc.Session.ExitCode != ExitPassed {
			t.Errorf("%s: exit code %d", c.name, doc.Session.ExitCode)
		}
	}
}

// What counts instead of inconclusive is no sign that an expected failure holds, or does not.
func TestReplacedVerdictsAreNotInverted(t *testing.T) {
	for as, want := range map[string]results.Verdict{
		"": results.InconclusiveVerdict, "pass": results.Pass, "fail": results.Fail, "warn": results.WarnVerdict,
	} {
		a := band(p(42), nil, []int{3})
		a.XFail = &assertion.XFail{Reason: "bug 7", Until: "2099-11-21"}
		a.Decide = &assertion.Decide{OnInconclusive: as}
		c := caseOf("c", noisy...)
		c.Assertions = []*results.AssertionVerdict{a}
		doc := docOf(c)
		doc.Session.Started = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
		Judge(doc)
		wantVerdict(t, a, want)
	}
}

// The halo of a negative bound lies outside of the band too.
func TestHaloOfANegativeBound(t *testing.T) {
	got := boundCheck{bounds: assertion.Bounds{Lower: p(-10), Upper: p(-1)}, halo: 0.1}.withHalo()
	if *got.Lower != -11 || *got.Upper != -0.9 {
		t.Errorf("[%v, %v]", *got.Lower, *got.Upper)
	}
}

func TestHaloOfATrend(t *testing.T) {
	for _, c := range []struct {
		to   float64
		want results.Verdict
	}{{10, results.Pass}, {9.2, results.WarnVerdict}, {8, results.Fail}} {
		cases, keys := series([]float64{10, 10, 10}, []float64{c.to, c.to, c.to})
		a := trend("increases", 0.05, looks, keys...)
		a.Halo = 0.05
		doc := docOf(cases...)
		doc.Assertions = []*results.AssertionVerdict{a}
		Judge(doc)
		wantVerdict(t, a, c.want)
	}
}

func TestOnInconclusive(t *testing.T) {
	for _, c := range []struct {
		at       []int
		stand    string
		severity assertion.Severity
		want     results.Verdict
		code     int
	}{
		{[]int{3}, "", assertion.Gate, results.InconclusiveVerdict, ExitInconclusive},
		{[]int{3}, "inconclusive", assertion.Gate, results.InconclusiveVerdict, ExitInconclusive},
		{[]int{3}, "fail", assertion.Gate, results.Fail, ExitFailed},
		{[]int{3}, "warn", assertion.Gate, results.WarnVerdict, ExitPassed},
		{[]int{3}, "pass", assertion.Gate, results.Pass, ExitPassed},
		{[]int{3}, "fail", assertion.Warn, results.WarnVerdict, ExitPassed},
		{looks, "pass", assertion.Gate, results.InconclusiveVerdict, ExitInconclusive}, // looks are left
		{looks, "fail", assertion.Gate, results.InconclusiveVerdict, ExitInconclusive},
	} {
		a := band(p(41.832), nil, c.at)
		a.Severity, a.Decide = c.severity, &assertion.Decide{OnInconclusive: c.stand}
		doc := judged(caseOf("c", noisy...), a)
		wantVerdict(t, a, c.want)
		if doc.Session.ExitCode != c.code || !strings.Contains(a.Message, "inconclusive") && c.stand != "" &&
			c.stand != "inconclusive" && len(c.at) == 1 {
			t.Errorf("%v %q: exit code %d, message %q", c.at, c.stand, doc.Session.ExitCode, a.Message)
		}
	}
}

// The session says what an open gate counts as, where the gate does not, and after how many sessions in a row it fails.
func TestInconclusivePolicy(t *testing.T) {
	ended, never := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC), time.Time{}
	last := []int{3}
	none, fails := assertion.Inconclusive{}, assertion.Inconclusive{As: "fail"}
	warns, passes := assertion.Inconclusive{As: "warn"}, assertion.Inconclusive{As: "pass"}
	third := assertion.Inconclusive{As: "pass", Streak: 3}
	for name, c := range map[string]struct {
		policy assertion.Inconclusive
		own    string
		before int
		looks  []int
		ended  time.Time
		want   results.Verdict
		code   int
		open   bool
	}{
		"no policy":      {none, "", 9, last, ended, results.InconclusiveVerdict, ExitInconclusive, false},
		"fail":           {fails, "", 0, last, ended, results.Fail, ExitFailed, true},
		"warn":           {warns, "", 0, last, ended, results.WarnVerdict, ExitPassed, true},
		"pass":           {passes, "", 0, last, ended, results.Pass, ExitPassed, true},
		"the gate's own": {fails, "pass", 0, last, ended, results.Pass, ExitPassed, true},
		"the gate stays": {
			fails, "inconclusive", 0, last, ended, results.InconclusiveVerdict, ExitInconclusive, false,
		},
		"second of three": {third, "", 1, last, ended, results.Pass, ExitPassed, true},
		"third of three":  {third, "", 2, last, ended, results.Fail, ExitFailed, true},
		"fourth of three": {third, "", 3, last, ended, results.Fail, ExitFailed, true},
		"looks are left":  {fails, "", 0, looks, never, results.InconclusiveVerdict, ExitInconclusive, false},
		"left, but over":  {fails, "", 0, looks, ended, results.Fail, ExitFailed, true},
		"streak, left":    {third, "", 5, looks, never, results.InconclusiveVerdict, ExitInconclusive, false},
	} {
		a := band(p(41.832), nil, c.looks)
		a.OpenBefore = c.before
		if c.own != "" {
			a.Decide = &assertion.Decide{OnInconclusive: c.own}
		}
		doc := docOf(caseOf("c", noisy...))
		doc.Cases[0].Assertions = []*results.AssertionVerdict{a}
		doc.Session.Finished, doc.Session.Inconclusive = c.ended, &c.policy
		for range 2 { // judging again changes nothing
			Judge(doc)
			if a.Verdict != c.want || doc.Session.ExitCode != c.code || a.Open != c.open {
				t.Errorf("%s: %s, exit code %d, open %t: %s", name, a.Verdict, doc.Session.ExitCode, a.Open, a.Message)
			}
		}
		if streak := c.want == results.Fail && c.policy.Streak > 0; streak &&
			!strings.Contains(
				a.Message,
				fmt.Sprintf("inconclusive in %d sessions in a row, which counts as fail", c.before+1),
			) {
			t.Errorf("%s: %s", name, a.Message)
		}
	}
}

// A case without assertions and without a launch that counts follows the policy, too.
func TestInconclusivePolicyOfAVoidCase(t *testing.T) {
	for as, want := range map[string]int{
		"": ExitInconclusive, "fail": ExitFailed, "warn": ExitPassed, "pass": ExitPassed,
	} {
		c := caseOf("c", 1)
		c.Launches[0].Discarded = "busy"
		doc := docOf(c)
		doc.Session.Inconclusive = &assertion.Inconclusive{As: as}
		Judge(doc)
		if doc.Session.ExitCode != want {
			t.Errorf("%q: exit code %d", as, doc.Session.ExitCode)
		}
	}
}

func TestConfidenceIsTheAuthors(t *testing.T) {
	width := func(confidence float64) float64 {
		a := band(p(1), nil, looks)
		a.Decide = &assertion.Decide{Confidence: confidence}
		judged(caseOf("c", noisy...), a)
		if confidence == 0.99 && (a.Observed.Confidence != 0.99 || !strings.Contains(a.Message, "(99% CI")) {
			t.Errorf("observed %+v: %s", a.Observed, a.Message)
		}
		return math.Log(a.Observed.CI[1] / a.Observed.CI[0])
	}
	if narrow, usual, wide := width(0.9), width(0), width(0.99); !(narrow < usual && usual < wide) {
		t.Errorf("widths %v %v %v", narrow, usual, wide)
	}
}

func TestExpectedFailures(t *testing.T) {
	day := func(s string) time.Time {
		d, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		name     string
		started  time.Time
		values   []float64
		severity assertion.Severity
		want     results.Verdict
		code     int
		says     string
	}{
		{"fails", day("2026-11-20T10:00:00Z"), outBand, assertion.Gate, results.XFail, ExitPassed,
			"expected-to-fail until=2026-11-21"},
		{"holds", day("2026-11-20T10:00:00Z"), inBand, assertion.Gate, results.XPass, ExitFailed, "holds-unexpectedly"},
		{"holds and would only warn", day("2026-11-20T10:00:00Z"), inBand, assertion.Warn, results.WarnVerdict,
			ExitPassed, "holds-unexpectedly"},
		{"on its last day", day("2026-11-21T23:59:59Z"), outBand, assertion.Gate, results.XFail, ExitPassed,
			"expected-to-fail"},
		{"on its last day in UTC", day("2026-11-22T00:30:00+02:00"), outBand, assertion.Gate, results.XFail, ExitPassed,
			"expected-to-fail"},
		{"a day later", day("2026-11-22T00:00:00Z"), outBand, assertion.Gate, results.Fail, ExitFailed,
			"expectation-expired"},
		{"holds a day later", day("2026-11-22T00:00:00Z"), inBand, assertion.Gate, results.Pass, ExitPassed,
			"expectation-unneeded"},
		{"without a start", time.Time{}, outBand, assertion.Gate, results.Fail, ExitFailed, "expectation-expired"},
		{"inconclusive", day("2026-11-20T10:00:00Z"), noisy, assertion.Gate, results.InconclusiveVerdict,
			ExitInconclusive, "next-look"},
		{"error", day("2026-11-20T10:00:00Z"), []float64{0, 1, 2}, assertion.Gate, results.ErrorVerdict, ExitExecution,
			"not-above-zero"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := known(0.003, band(p(41.832), nil, looks))
			a.Severity, a.XFail = c.severity, &assertion.XFail{Reason: "bug 7", Until: "2026-11-21"}
			k := caseOf("c", c.values...)
			k.Assertions = []*results.AssertionVerdict{a}
			doc := docOf(k)
			doc.Session.Started = c.started
			for range 2 {
				Judge(doc)
				wantVerdict(t, a, c.want)
				if doc.Session.ExitCode != c.code || !has(a.Reasons, c.says) {
					t.Errorf("exit code %d (want %d), message %q", doc.Session.ExitCode, c.code, a.Message)
				}
				if n := doc.Summary.Assertions[string(c.want)]; n != 1 {
					t.Errorf("summary %v", doc.Summary.Assertions)
				}
			}
		})
	}
}

// A miss within the ceiling is expected; one that is certainly beyond it fails, and one that may be within it does not.
func TestCeilingsOfExpectedFailures(t *testing.T) {
	low := []float64{45, 45.1, 44.9}
	for name, c := range map[string]struct {
		bounds  assertion.Bounds
		ceiling float64
		values  []float64
		want    results.Verdict
		says    string
	}{
		"within":          {assertion.Bounds{Lower: p(50)}, 0.2, low, results.XFail, "expected-to-fail"},
		"beyond":          {assertion.Bounds{Lower: p(50)}, 0.05, low, results.Fail, "beyond-ceiling"},
		"at the ceiling":  {assertion.Bounds{Lower: p(50)}, 0.1, low, results.XFail, "expected-to-fail"},
		"above, within":   {assertion.Bounds{Upper: p(40)}, 0.2, low, results.XFail, "expected-to-fail"},
		"above, beyond":   {assertion.Bounds{Upper: p(40)}, 0.05, low, results.Fail, "beyond-ceiling"},
		"holds":           {assertion.Bounds{Lower: p(40)}, 0.05, low, results.XPass, "holds-unexpectedly"},
		"without ceiling": {assertion.Bounds{Lower: p(900)}, 0, low, results.XFail, "expected-to-fail"},
	} {
		a := known(0.003, band(c.bounds.Lower, c.bounds.Upper, []int{3}))
		a.XFail = &assertion.XFail{
			Reason: "bug 7", Link: "https://bugs.example/7", Until: "2026-11-21", Ceiling: c.ceiling,
		}
		k := caseOf("c", c.values...)
		k.Assertions = []*results.AssertionVerdict{a}
		startedOn("2026-11-20", docOf(k))
		if a.Verdict != c.want || !has(a.Reasons, c.says) ||
			!strings.Contains(a.Message, "bug 7, https://bugs.example/7") {
			t.Errorf("%s: %s: %s", name, a.Verdict, a.Message)
		}
	}
}

// The ceiling of an expected failure moves the bounds of each part of all() and any(), and the tolerance of a trend.
func TestCeilingsOfPartsAndTrends(t *testing.T) {
	for value, want := range map[float64]results.Verdict{9.8: results.XFail, 5: results.Fail} {
		cases, keys := series([]float64{10, 10.01, 10}, []float64{value, value * 1.001, value})
		doc := docOf(cases...)
		doc.Assertions = []*results.AssertionVerdict{
			quantified("all", p(9.9), []int{3}, keys...), quantified("any", p(10.2), []int{3}, keys[1:]...),
			trend("increases", 0.01, []int{3}, keys...),
		}
		for _, a := range doc.Assertions {
			a.XFail = &assertion.XFail{Reason: "bug 7", Until: "2026-11-21", Ceiling: 0.05}
		}
		startedOn("2026-11-20", doc)
		for _, a := range doc.Assertions {
			if a.Verdict != want || (want == results.Fail) != has(a.Reasons, "beyond-ceiling accepted=0.05") {
				t.Errorf("%s at %v: %s: %s", a.Name, value, a.Verdict, a.Message)
			}
		}
	}
}

// A launch that was made again is no failure of its case, counts for nothing and is reported.
func TestRetriedLaunches(t *testing.T) {
	c := caseOf("c", inBand...)
	c.Launches = append(c.Launches, &results.Launch{
		Index: 1, Status: results.Error, Retried: true, Metrics: results.ValuesOf(map[string]float64{"bandwidth": 1}),
		Failure: &results.Failure{Rank: -1, Phase: "connect", Kind: results.FailedLink, Cause: "refused"},
	})
	a := known(0.003, band(p(41.832), nil, looks))
	doc := judged(c, a)
	wantVerdict(t, a, results.Pass)
	if !has(a.Reasons, "launches-retried launches=1 succeeded=3 made=4") {
		t.Errorf("message %q", a.Message)
	}
	if c.Invalid != "" || c.Metrics.At("bandwidth").N != 3 || doc.Session.ExitCode != ExitPassed {
		t.Errorf("invalid %q, n=%d, exit code %d", c.Invalid, c.Metrics.At("bandwidth").N, doc.Session.ExitCode)
	}
	c.Launches = c.Launches[3:] // nothing but the launch that is to be made again
	Judge(doc)
	wantVerdict(t, a, results.ErrorVerdict)
	c.Launches[0].Retried = false // it was not made again
	Judge(doc)
	wantVerdict(t, a, results.ErrorVerdict)
}

func TestCommandsThatFailedEndInAnError(t *testing.T) {
	for _, stage := range []string{"setup", "teardown"} {
		a := known(0.003, band(p(41.832), nil, looks))
		doc := judged(caseOf("c", inBand...), a)
		doc.Commands = []results.Command{{Name: "umount", Stage: stage, Scope: "session", Status: "failed"}}
		Judge(doc)
		if doc.Session.ExitCode != ExitExecution || doc.Session.Status != results.Errored || a.Verdict != results.Pass {
			t.Errorf("%s: exit code %d, %s", stage, doc.Session.ExitCode, a.Verdict)
		}
		doc.Commands[0].Status = results.OK
		Judge(doc)
		if doc.Session.ExitCode != ExitPassed {
			t.Errorf("%s that succeeded: exit code %d", stage, doc.Session.ExitCode)
		}
	}
}
