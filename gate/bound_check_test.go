package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

func TestBandRule(t *testing.T) {
	within := func(at ...int) *results.AssertionVerdict { return band(p(41.832), p(51.128), at) }
	for _, c := range []struct {
		name      string
		a         *results.AssertionVerdict
		values    []float64
		want      results.Verdict
		undecided bool
		says      string
	}{
		{"inside", within(looks...), []float64{46, 46.2, 46.1, 46, 46.2, 46.1, 46, 46.1}, results.Pass, false,
			"unseen-mode launches=8 share=0.3313"},
		{"inside, and three agree", within(looks...), []float64{46, 46.2, 46.1}, results.InconclusiveVerdict, true,
			"slow-mode-noise-unknown cost=0.2092 launches=8"},
		{"wholly below", within(looks...), []float64{39, 39.1, 39.2}, results.Fail, false,
			"below lower=41.83 missed=41.83"},
		{"too fast", within(looks...), []float64{60, 60.1, 60.2}, results.Fail, false,
			"too-fast"},
		{"crossing at the first look", within(looks...), []float64{40, 42, 44}, results.InconclusiveVerdict, true,
			"next-look next=5"},
		{"crossing at the last look", within(3, 5), []float64{40, 42, 44, 40, 43}, results.InconclusiveVerdict, false,
			"last-look"},
		{"before the first look", within(looks...), []float64{46, 46.1}, results.InconclusiveVerdict, true,
			"next-look next=3"},
		{"between looks", within(looks...), []float64{46, 46.1, 46.2, 46.1}, results.InconclusiveVerdict, true,
			"next-look next=5"},
		{"more than the last look", within(3), []float64{46, 46.1, 46.2, 46.1}, results.Pass, false, "inside n=3"},
		{"exactly one launch inside", within(1), []float64{46}, results.Pass, false,
			"one-launch"},
		{"exactly one launch outside", within(1), []float64{41}, results.Fail, false,
			"one-launch"},
		{"exactly two launches", within(2), []float64{46, 46.1}, results.Pass, false, "inside n=2"},
		{"exactly two noisy launches", within(2), []float64{43, 49}, results.InconclusiveVerdict, false,
			"last-look"},
		{"no variance inside", within(3), []float64{46, 46, 46}, results.Pass, false, "inside low=46 high=46"},
		{"no variance on the bound", within(3), []float64{41.832, 41.832, 41.832}, results.Pass, false, ""},
		{"no variance outside", within(looks...), []float64{41.8, 41.8, 41.8}, results.Fail, false, "below"},
		{"lower bound only, far above", band(p(10), nil, looks), []float64{46, 47, 48}, results.Pass, false,
			"inside lower=10"},
		{"lower bound only, below", band(p(50), nil, looks), []float64{46, 46.1, 46.2}, results.Fail, false,
			"below lower=50 missed=50"},
		{"upper bound only, below", band(nil, p(50), looks), []float64{46, 46.1, 46.2}, results.Pass, false,
			"inside upper=50"},
		{"upper bound only, above", band(nil, p(40), looks), []float64{46, 46.1, 46.2}, results.Fail, false,
			"above upper=40 missed=40"},
		{"no bounds at all", band(nil, nil, looks), []float64{46, 46.1, 46.2}, results.ErrorVerdict, false,
			"invalid-assertion"},
		{"zero", within(looks...), []float64{46, 0, 46}, results.ErrorVerdict, false,
			"not-above-zero"},
		{"negative", within(1), []float64{-1}, results.ErrorVerdict, false, "not-above-zero"},
		{"not a number", within(looks...), []float64{46, math.NaN(), 46}, results.ErrorVerdict, false,
			"metric-not-finite launch=2 metric=bandwidth value=NaN"},
		{"infinite", within(looks...), []float64{46, math.Inf(1), 46}, results.ErrorVerdict, false,
			"metric-not-finite value=+Inf"},
		{"no launches", within(looks...), nil, results.ErrorVerdict, true, "no-launch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := judged(caseOf("c", c.values...), c.a)
			wantVerdict(t, c.a, c.want)
			if !has(c.a.Reasons, c.says) {
				t.Errorf("message %q has not %q", c.a.Message, c.says)
			}
			if got := len(Undecided(doc)) == 1; got != c.undecided {
				t.Errorf("undecided %v, want %v", got, c.undecided)
			}
		})
	}
}

func TestMessageOfAFailure(t *testing.T) {
	a := band(p(41.832), p(51.128), looks)
	judged(caseOf("c", 40.3, 41.1, 40.9, 41.4, 40.86), a)
	const want = "bandwidth 40.91 GB/s (96% CI 40.0–41.8 over 4 looks, n=5) < 41.832 GB/s; 2.2% below"
	if a.Message != want {
		t.Errorf("message\n%s\nwant\n%s", a.Message, want)
	}
}

// A slow band of a time: being below it is the suspicious end.
func TestTooFastIsBelowABandOfTimes(t *testing.T) {
	c := caseOf("c", 1)
	c.Launches[0].Metrics.Set("latency.avg", 10e-6)
	a := band(p(50), p(60), []int{1})
	a.Subject, a.Unit = metric("latency.avg", "s"), "us"
	judged(c, a)
	wantVerdict(t, a, results.Fail)
	if !has(a.Reasons, "too-fast") || !strings.Contains(a.Message, "< 50 µs") {
		t.Errorf("message %q", a.Message)
	}
}

// A difference may be zero or negative, so it has no logarithm and is judged as it is.
func TestDifferenceIsJudgedLinearly(t *testing.T) {
	c := caseOf("c", 5, 5.1, 4.9)
	for i, other := range []float64{5.1, 5, 5} {
		c.Launches[i].Metrics.Set("ceiling.bandwidth", other)
	}
	a := band(p(-1), p(1), looks)
	a.Subject = &assertion.Expr{
		Op: assertion.Sub, Args: []*assertion.Expr{metric("bandwidth", "GB/s"), metric("ceiling.bandwidth", "GB/s")},
	}
	judged(c, a)
	wantVerdict(t, a, results.Pass)
}

func TestOutliers(t *testing.T) {
	steady := []float64{46, 46.1, 45.9, 46.05, 45.95, 46.02, 45.98}
	t.Run("marked, named, kept", func(t *testing.T) {
		a := band(p(30), nil, []int{8})
		doc := judged(caseOf("c", append(steady, 44)...), a)
		wantVerdict(t, a, results.Pass)
		if !has(a.Reasons, "outliers") {
			t.Errorf("message %q", a.Message)
		}
		if n := doc.Cases[0].Metrics.At("bandwidth").N; n != 8 {
			t.Errorf("estimate rests on %d launches, want all 8", n)
		}
	})
	t.Run("a verdict that hangs on them is inconclusive", func(t *testing.T) {
		// Seven slow launches of sixty pull the interval into the band; those that agree
		// with each other are wholly above it.
		a := band(p(40), p(49.9), []int{60})
		judged(caseOf("c", mixed(53, []float64{50, 50.01, 49.99}, 7, []float64{45, 45.01})...), a)
		wantVerdict(t, a, results.InconclusiveVerdict)
		if !has(a.Reasons, "outliers-decide") {
			t.Errorf("message %q", a.Message)
		}
	})
	t.Run("above an eighth of launches are a mode, and the verdict stands", func(t *testing.T) {
		a := band(p(40), p(49.9), []int{60})
		judged(caseOf("c", mixed(48, []float64{50, 50.01, 49.99}, 12, []float64{45, 45.01})...), a)
		wantVerdict(t, a, results.Pass)
		if !strings.Contains(a.Message, "two modes: 12 launches near 45.0") || strings.Contains(a.Message, "outlier") {
			t.Errorf("message %q", a.Message)
		}
	})
	t.Run("too few launches to mark any", func(t *testing.T) {
		a := band(p(1), nil, looks)
		judged(caseOf("c", 46, 46, 20), a)
		if strings.Contains(a.Message, "outlier") {
			t.Errorf("message %q", a.Message)
		}
	})
}

// mixed are launches of two groups of values.
func mixed(n int, values []float64, m int, others []float64) []float64 {
	var out []float64
	for i := range n {
		out = append(out, values[i%len(values)])
	}
	for i := range m {
		out = append(out, others[i%len(others)])
	}
	return out
}

func TestSeverities(t *testing.T) {
	for _, c := range []struct {
		severity  assertion.Severity
		values    []float64
		want      results.Verdict
		code      int
		undecided int
		summary   string
	}{
		{assertion.Gate, []float64{39, 39, 39}, results.Fail, ExitFailed, 0, "fail"},
		{assertion.Gate, []float64{38, 42, 46}, results.InconclusiveVerdict, ExitInconclusive, 1, "inconclusive"},
		{assertion.Warn, []float64{39, 39, 39}, results.WarnVerdict, ExitPassed, 0, "warn"},
		{assertion.Warn, []float64{38, 42, 46}, results.WarnVerdict, ExitPassed, 1, "warn"},
		{assertion.Warn, []float64{0, 42, 46}, results.ErrorVerdict, ExitExecution, 0, "error"},
		{assertion.Info, []float64{39, 39, 39}, results.Fail, ExitPassed, 0, "info"},
		{assertion.Info, []float64{38, 42, 46}, results.InconclusiveVerdict, ExitPassed, 0, "info"},
		{assertion.Info, []float64{46, 46, 46, 46, 46, 46, 46, 46}, results.Pass, ExitPassed, 0, "pass"},
	} {
		a := band(p(41.832), p(51.128), looks)
		a.Severity = c.severity
		doc := judged(caseOf("c", c.values...), a)
		if a.Verdict != c.want || doc.Session.ExitCode != c.code || len(Undecided(doc)) != c.undecided ||
			doc.Summary.Assertions[c.summary] != 1 {
			t.Errorf("%s %v: verdict %s (want %s), exit %d (%d), undecided %d (%d), summary %v (%s)", c.severity,
				c.values,
				a.Verdict, c.want, doc.Session.ExitCode, c.code, len(Undecided(doc)), c.undecided,
				doc.Summary.Assertions, c.summary)
		}
	}
}

func TestNextLook(t *testing.T) {
	for _, c := range []struct{ have, want int }{{0, 3}, {2, 3}, {3, 5}, {4, 5}, {8, 12}, {12, 0}, {20, 0}} {
		if got := nextAnalysis(looks, c.have); got != c.want {
			t.Errorf("nextLook(%v, %d) = %d, want %d", looks, c.have, got, c.want)
		}
	}
}

func TestNeededLaunchesAreNamed(t *testing.T) {
	a := band(p(41.832), nil, []int{5})
	judged(caseOf("c", 41.5, 42.5, 42.4, 42.9, 41.9), a)
	wantVerdict(t, a, results.InconclusiveVerdict)
	if a.Deciding <= 0 || !strings.Contains(a.Message, fmt.Sprintf("%d launches would decide", a.Deciding)) {
		t.Errorf("%d launches: %s", a.Deciding, a.Message)
	}
	if !strings.Contains(a.Message, "about ") || !strings.Contains(a.Message, "launches would decide") {
		t.Errorf("message %q", a.Message)
	}
	a = band(p(41.832), nil, []int{5})
	judged(caseOf("c", 36, 47, 40, 45, 42), a)
	if !has(a.Reasons, "too-noisy most=100") {
		t.Errorf("message %q", a.Message)
	}
}

// With one initiator the skew is 0 in each launch, which is as good as it gets.
func TestMetricsThatMayBeZero(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   results.Verdict
	}{
		{[]float64{0, 0, 0}, results.Pass},
		{[]float64{0, 0.0001, 0}, results.Pass},
		{[]float64{2, 2.1, 2}, results.Fail},
		{[]float64{0.5, 0.1, 0.3}, results.Pass},
		{[]float64{0, 3, 0}, results.InconclusiveVerdict},
	} {
		c := caseOf("c", 46, 46, 46)
		for i, v := range test.values {
			c.Launches[i].Metrics.Set("skew", v)
		}
		a := band(nil, p(1), []int{3})
		a.Subject, a.Unit = metric("skew", "s"), "s"
		judged(c, a)
		wantVerdict(t, a, test.want)
		if e := c.Metrics.At("skew"); e.Value != a.Observed.Value || *e.CI != *a.Observed.CI {
			t.Errorf("%v: the estimate is %v in %v, the verdict's %v in %v", test.values, e.Value, e.CI,
				a.Observed.Value, a.Observed.CI)
		}
	}
	one := caseOf("c", 46, 47, 48) // of what is never 0 they are geometric, both
	a := band(p(41.832), nil, []int{3})
	judged(one, a)
	if e := one.Metrics.At("bandwidth"); e.Value != a.Observed.Value || *e.CI != *a.Observed.CI || e.Value >= e.Mean {
		t.Errorf("the estimate is %v in %v, the verdict's %v in %v", e.Value, e.CI, a.Observed.Value, a.Observed.CI)
	}
}

// One error refutes that there are none, however much launches differ; that there are few is judged by an interval.
func TestOneErrorRefutesNone(t *testing.T) {
	for _, test := range []struct {
		metric, unit string
		values       []float64
		upper        float64
		want         results.Verdict
	}{
		{"skew", "s", []float64{0, 0, 0.42, 0, 0}, 0, results.Fail},
		{"skew", "s", []float64{0, 0, 0, 0, 0}, 0, results.Pass},
		{"skew", "s", []float64{0, 0, 0.42, 0, 0}, 0.3, results.InconclusiveVerdict},
		{"wrong", "", []float64{0, 5, 0, 3, 0}, 0, results.Fail},                            // a count
		{"drift", "", []float64{0.5, -0.3, 0.1, 0.2, -0.4}, 0, results.InconclusiveVerdict}, // it may be negative
		{"drift", "", []float64{0, 0.2, 0.1, 0, 0.3}, 0, results.InconclusiveVerdict},
		{"drift", "", []float64{0, 0, 0.1, 0, 0}, 0, results.Fail}, // exactly 0 in most launches: a fraction
	} {
		c := caseOf("c", 46, 46, 46, 46, 46)
		for i, v := range test.values {
			c.Launches[i].Metrics.Set(test.metric, v)
		}
		a := band(nil, p(test.upper), []int{5})
		a.Subject, a.Unit = metric(test.metric, test.unit), test.unit
		c.Assertions = []*results.AssertionVerdict{a}
		doc := docOf(c)
		kind, _ := workload.Lookup(c.Workload)
		doc.Metrics = []results.MetricTable{{
			Workload: c.Workload, Run: c.Run, Definitions: append(slices.Clone(kind.Metrics),
				workload.Metric{Name: "wrong", Better: workload.Lower, MayBeZero: true},
				workload.Metric{Name: "drift", Better: workload.Lower, MayBeZero: true}),
		}}
		Judge(doc)
		if a.Verdict != test.want || (a.Verdict == results.Fail) != has(a.Reasons, "above-least") {
			t.Errorf("%s %v: %s, want %s: %s", test.metric, test.values, a.Verdict, test.want, a.Message)
		}
	}
}

// A time that has no end is no number for a person: neither it, nor its interval, nor a distance in percent.
func TestTimesWithoutEndAreSaidToBe(t *testing.T) {
	for values, says := range map[[3]float64]string{
		{results.Unbounded, results.Unbounded, results.Unbounded}: "unbounded (n=3) > 1 s",
		{0.1, results.Unbounded, 0.1}:                             "unbounded (n=3) against <= 1 s",
	} {
		for _, name := range []string{"latency.p50", "skew"} { // of which one may be zero
			c := caseOf("c", 46, 46, 46)
			for i, v := range values {
				c.Launches[i].Metrics.Set(name, v)
			}
			a := band(nil, p(1), []int{3})
			a.Subject, a.Unit = metric(name, "s"), "s"
			judged(c, a)
			if m := a.Message; !strings.Contains(m, says) || strings.Contains(m, "e+") || strings.Contains(m, "%") {
				t.Errorf("%s %v: %s", name, values, m)
			}
		}
	}
}

// Only the declaration of a metric can say that it may be 0 or below.
func TestAdviceAboutZeroIsForDeclaredMetrics(t *testing.T) {
	for _, value := range []float64{0, -5} {
		adviceAboutZero(t, value)
	}
}

func adviceAboutZero(t *testing.T, value float64) {
	t.Helper()
	for metric, advised := range map[string]bool{"bandwidth": false, "errors": true} {
		c, a := caseOf("c", 46, 46), band(nil, p(50), []int{2})
		a.Subject.Metric = metric
		for _, l := range c.Launches {
			l.Metrics = results.ValuesOf(map[string]float64{metric: value})
		}
		doc := docOf(c)
		c.Assertions = []*results.AssertionVerdict{a}
		kind, _ := workload.Lookup(c.Workload)
		doc.Metrics = []results.MetricTable{{
			Workload: c.Workload, Run: c.Run, Definitions: append(slices.Clone(kind.Metrics),
				workload.Metric{Name: "errors", Unit: "GB/s", Better: workload.Lower}),
		}}
		Judge(doc)
		wantVerdict(t, a, results.ErrorVerdict)
		if !has(a.Reasons, "not-above-zero") || strings.Contains(a.Message, "may_be_zero") != advised {
			t.Errorf("%s: %q", metric, a.Message)
		}
	}
}
