package gate

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// aimed is a statement that a value is within a share of a target, as the language lowers it.
func aimed(subject *assertion.Expr, unit string, target, share float64) *results.AssertionVerdict {
	a := band(p(target*(1-share)), p(target*(1+share)), looks)
	a.Subject, a.Unit, a.Target = subject, unit, &target
	return a
}

// with adds a metric to each launch of a case.
func with(c *results.Case, metric string, values ...float64) *results.Case {
	for i, v := range values {
		c.Launches[i].Metrics.Set(metric, v)
	}
	return c
}

// A failure says how far from the target a value is, on its own side, whichever is better.
func TestAFailureSaysTheDistanceFromTheTarget(t *testing.T) {
	slow := func() *results.Case { return caseOf("c", 12, 12.01, 12.02) }
	late := func() *results.Case {
		return with(caseOf("c", 1, 1, 1), "latency.p50", 141e-6, 141e-6, 141.1e-6)
	}
	latency := metric("latency.p50", "s")
	bandwidth := metric("bandwidth", "GB/s")
	for name, c := range map[string]struct {
		c    *results.Case
		a    *results.AssertionVerdict
		says string
	}{
		"below the target": {
			slow(), aimed(bandwidth, "GB/s", 46.48, 0.1),
			"< 41.832 GB/s; 74% below the target 46.48 GB/s",
		},
		"above the target": {
			slow(), aimed(bandwidth, "GB/s", 5, 0.1),
			"> 5.5 GB/s; 140% above the target 5 GB/s; faster than expected",
		},
		"latency above": {
			late(), aimed(latency, "s", 100e-6, 0.1),
			"> 110 µs; 41% above the target 100 µs",
		},
		"latency below": {
			late(), aimed(latency, "s", 300e-6, 0.1),
			"< 270 µs; 53% below the target 300 µs; faster than expected",
		},
		"a lower end":  {slow(), band(p(40), nil, looks), "< 40 GB/s; 70% below"},
		"an upper end": {slow(), band(nil, p(8), looks), "> 8 GB/s; 50% above"},
		"a bound far below": {
			late(), aimed(latency, "s", 50e-9, 0.1),
			"> 55 ns; 2800 times the target 50 ns",
		},
	} {
		judged(c.c, c.a)
		if c.a.Verdict != results.Fail || !strings.Contains(c.a.Message, c.says) {
			t.Errorf("%s: %s: %s\nwant %s", name, c.a.Verdict, c.a.Message, c.says)
		}
	}
}

// A bandwidth below what is asked names what the path carries, and says so where that is less.
func TestAFailureSaysWhatThePathCarries(t *testing.T) {
	probed := func(ceiling float64) *results.Case {
		c := caseOf("c", 8, 8.01, 8.02)
		for _, l := range c.Launches {
			l.Metrics.Set("ceiling.bandwidth", ceiling)
			l.Metrics.Set("ceiling", l.Metrics.At("bandwidth")/ceiling)
		}
		return c
	}
	for name, c := range map[string]struct {
		c    *results.Case
		says string
		not  string
	}{
		"the path is too slow": {
			probed(9.6),
			"; this path carries 9.600 GB/s here: the target cannot be reached", "\x00",
		},
		"it can be reached": {probed(50), "; this path carries 50.00 GB/s here", "cannot be reached"},
		"within its noise":  {probed(39.5), "; this path carries 39.50 GB/s here", "cannot be reached"},
		"not probed":        {caseOf("c", 8, 8.01, 8.02), "80% below", "this path"},
	} {
		a := band(p(40), nil, looks)
		judged(c.c, a)
		if a.Verdict != results.Fail || !strings.Contains(a.Message, c.says) || strings.Contains(a.Message, c.not) {
			t.Errorf("%s: %s: %s", name, a.Verdict, a.Message)
		}
	}
	a := band(nil, p(4), looks)
	if judged(probed(9.6), a); strings.Contains(a.Message, "this path") {
		t.Errorf("above an upper end: %s", a.Message)
	}
	// in a matrix the share is that of the narrowest rank, and no ceiling of the bandwidth
	c := probed(9.6)
	c.Workload = "traffic"
	if judged(c, band(p(40), nil, looks)); strings.Contains(c.Assertions[0].Message, "this path") {
		t.Errorf("a share of something else: %s", c.Assertions[0].Message)
	}
}

// A failure against a baseline, or another case, has both values.
func TestAFailureOfARatioSaysBothValues(t *testing.T) {
	doc, a := regression([]float64{14.67, 14.67, 14.671}, []float64{19.38, 19.38, 19.381})
	Judge(doc)
	want := "bandwidth 14.67 GB/s, baseline 19.38 GB/s, 24% below: bandwidth / baseline.bandwidth 0.75697"
	if a.Verdict != results.Fail || !strings.HasPrefix(a.Message, want) || strings.Contains(a.Message, "22%") {
		t.Errorf("%s: %s", a.Verdict, a.Message)
	}
	worse := aimed(metric("x", "s"), "", 1, 0.03)
	worse.Subject = ratio(metric("latency.p50", "s"), metric("latency.avg", "s"))
	c := with(with(caseOf("c", 1, 1, 1), "latency.p50", 141e-6, 141e-6, 141.1e-6), "latency.avg", 89e-6, 89e-6, 89e-6)
	judged(c, worse)
	if want := "ratio-of metric=latency.p50 by=latency.avg"; worse.Verdict != results.Fail ||
		!has(worse.Reasons, want) {
		t.Errorf("%s: %s", worse.Verdict, worse.Message)
	}
}

// Two launches that differ by much have an interval that decides nothing; what they gave is said beside it.
func TestTwoLaunchesThatDifferDecideNothing(t *testing.T) {
	a := band(p(60), nil, []int{2})
	judged(caseOf("c", 8.279, 39.84), a)
	for _, want := range []string{"cannot-tell n=2", "launches-gave launch=8.279"} {
		if a.Verdict != results.InconclusiveVerdict || !has(a.Reasons, want) {
			t.Errorf("%s: %s\nwant %s", a.Verdict, a.Message, want)
		}
	}
	if !strings.Contains(a.Message, "(96% CI <0.0018–>180000, n=2) against >= 60 GB/s") {
		t.Error(a.Message)
	}
}
