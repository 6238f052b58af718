package gate

import (
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

func TestValidityComesFirst(t *testing.T) {
	good := func() *results.Case { return caseOf("c", 46, 46.1, 46.2) }
	for _, c := range []struct {
		name   string
		spoil  func(*results.Case)
		want   results.Verdict
		reason string
		code   int
	}{
		{"nothing wrong", func(c *results.Case) {}, results.Pass, "", ExitPassed},
		{"failed launch", func(c *results.Case) {
			c.Launches[1].Status = results.Error
			c.Launches[1].Failure = &results.Failure{Rank: 1, Phase: "run", Cause: "killed"}
		}, results.ErrorVerdict, "launch-failed launch=2", ExitExecution},
		{"failed launch without a failure", func(c *results.Case) { c.Launches[1].Status = results.Error },
			results.ErrorVerdict, "launch-failed launch=2", ExitExecution},
		{"unverified", func(c *results.Case) { c.Launches[2].Verified = false }, results.ErrorVerdict,
			"unverified launch=3", ExitExecution},
		{"unverified by default", func(c *results.Case) { delete(c.Options, "verify"); c.Launches[2].Verified = false },
			results.ErrorVerdict, "unverified", ExitExecution},
		{"unverified as asked", func(c *results.Case) { c.Options["verify"] = "none"; c.Launches[2].Verified = false },
			results.Pass, "", ExitPassed},
		{"missing metric", func(c *results.Case) { c.Launches[0].Metrics.Delete("bandwidth") }, results.ErrorVerdict,
			"metric-missing launch=1 metric=bandwidth", ExitExecution},
		{"case ended with an error", func(c *results.Case) { c.Status, c.Reason = results.Error, "case-error" },
			results.ErrorVerdict, "case-error", ExitExecution},
		{"skipped", func(c *results.Case) { c.Status, c.Reason = results.Skipped, "needs x" }, results.SkippedVerdict,
			"case-not-run status=skipped", ExitEmpty},
		{"excluded", func(c *results.Case) { c.Status, c.Reason = results.Excluded, "known slow" },
			results.SkippedVerdict, "case-not-run status=excluded", ExitEmpty},
		{"far above its ceiling", func(c *results.Case) {
			for i, l := range c.Launches {
				l.Metrics.Set("ceiling", 1.30+float64(i)*0.001)
			}
		}, results.ErrorVerdict, "above-ceiling", ExitExecution},
		{"above its ceiling, but the interval is not", func(c *results.Case) {
			for i, v := range []float64{0.9, 1.2, 1.5} {
				c.Launches[i].Metrics.Set("ceiling", v)
			}
		}, results.Pass, "", ExitPassed},
		{"above a ceiling that was probed beside others", func(c *results.Case) {
			for _, l := range c.Launches {
				l.Metrics.Set("ceiling", 4.2)
				l.Metrics.Set("ceiling.best", 1.02)
			}
		}, results.Pass, "", ExitPassed},
		{"above the best that was probed", func(c *results.Case) {
			for i, l := range c.Launches {
				l.Metrics.Set("ceiling", 4.2)
				l.Metrics.Set("ceiling.best", 1.30+float64(i)*0.001)
			}
		}, results.ErrorVerdict, "above-ceiling", ExitExecution},
		{"at its ceiling", func(c *results.Case) {
			for _, l := range c.Launches {
				l.Metrics.Set("ceiling", 1.04)
			}
		}, results.Pass, "", ExitPassed},
	} {
		t.Run(c.name, func(t *testing.T) {
			cs, a := good(), known(0.003, band(p(41.832), p(51.128), looks))
			c.spoil(cs)
			doc := judged(cs, a)
			wantVerdict(t, a, c.want)
			if !has(a.Reasons, c.reason) {
				t.Errorf("message %q has not %q", a.Message, c.reason)
			}
			if doc.Session.ExitCode != c.code {
				t.Errorf("exit code %d, want %d", doc.Session.ExitCode, c.code)
			}
			if u := Undecided(doc); len(u) != 0 {
				t.Errorf("asks for launches of %v", u)
			}
		})
	}
}

// A case that nobody asserts anything of is still no success when its data are wrong.
func TestInvalidCaseWithoutAssertions(t *testing.T) {
	c := caseOf("c", 46)
	c.Launches[0].Verified = false
	doc := docOf(c)
	Judge(doc)
	if doc.Session.ExitCode != ExitExecution || doc.Session.Status != results.Errored || c.Invalid == "" {
		t.Errorf("exit %d, status %s, invalid %q", doc.Session.ExitCode, doc.Session.Status, c.Invalid)
	}
	if of := doc.Summary.Cases; of[results.OK] != 0 || of[results.Error] != 1 {
		t.Errorf("counted as %v", of)
	}
	c.Launches[0].Verified = true
	Judge(doc)
	if doc.Session.ExitCode != ExitPassed || c.Invalid != "" {
		t.Errorf("judged again: exit %d, invalid %q", doc.Session.ExitCode, c.Invalid)
	}
}

// One launch has no interval: only what no luck explains makes it impossible.
func TestCeilingOfOneLaunch(t *testing.T) {
	for share, want := range map[float64]results.Verdict{
		1.11: results.Pass, 1.99: results.Pass, 2.1: results.ErrorVerdict,
	} {
		c := caseOf("c", 46)
		c.Launches[0].Metrics.Set("ceiling", share)
		a := band(p(1), nil, []int{1})
		judged(c, a)
		wantVerdict(t, a, want)
	}
}

// A metric that depends on disturbed probes decides nothing; others of the case do.
func TestDisturbedProbes(t *testing.T) {
	type probes struct {
		shares []float64
		waited float64 // of 10 ms
	}
	differ, wait := probes{[]float64{1.2, 1.5, 1.3, 1.45, 1.25}, 0}, probes{[]float64{2, 2.01, 2.02, 2, 2.01}, 0.001}
	for _, c := range []struct {
		probes
		metric string
		want   results.Verdict
	}{
		{differ, "bandwidth", results.Pass}, {differ, "ceiling", results.InconclusiveVerdict},
		{differ, "ceiling.bandwidth", results.InconclusiveVerdict},
		{wait, "bandwidth", results.Pass}, {wait, "ceiling", results.InconclusiveVerdict},
	} {
		metric, want, waited, shares := c.metric, c.want, c.waited, c.shares
		c := caseOf("c", 46, 46.1, 46.2, 46, 46.1)
		for i, v := range shares {
			c.Launches[i].Metrics.Set("ceiling", v)
			c.Launches[i].Metrics.Set("ceiling.bandwidth", 46/v)
			c.Launches[i].Processors = &results.Processors{Ranks: []results.RankProcessor{
				{Wall: 0.1, Ran: 0.1, ProbeRan: 0.01 - waited, ProbeWaited: waited},
			}}
		}
		a := band(p(0.5), nil, []int{5})
		a.Subject.Metric = metric
		judged(c, a)
		wantVerdict(t, a, want)
		if got := slices.ContainsFunc(a.Reasons, func(r results.Reason) bool {
			return r.Kind == results.ProbesDisturbed
		}); got != (want == results.InconclusiveVerdict) {
			t.Errorf("%s: reasons %v", metric, a.Reasons)
		}
	}
}

func TestDamagedAssertions(t *testing.T) {
	for name, spoil := range map[string]func(*results.AssertionVerdict){
		"no subject": func(a *results.AssertionVerdict) { a.Subject = nil },
		"no operand": func(a *results.AssertionVerdict) {
			a.Subject = &assertion.Expr{Op: assertion.Add, Args: []*assertion.Expr{nil, nil}}
		},
		"unknown operation": func(a *results.AssertionVerdict) { a.Subject = &assertion.Expr{Op: "^"} },
		"unknown unit":      func(a *results.AssertionVerdict) { a.Unit = "furlong" },
		"unknown trend": func(a *results.AssertionVerdict) {
			a.Trend, a.Cases = &assertion.Trend{Direction: "wobbles"}, []string{"c"}
		},
	} {
		a := band(p(1), nil, looks)
		spoil(a)
		judged(caseOf("c", 46, 46, 46), a)
		if a.Verdict != results.ErrorVerdict || a.Message == "" {
			t.Errorf("%s: verdict %s, message %q", name, a.Verdict, a.Message)
		}
	}
}
