package gate

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// quantilesOf is a case with these quantiles in its launches, each of this number of values.
func quantilesOf(kind string, counted string, values float64, quantiles map[string]float64) *results.Case {
	c := caseOf("c", 1, 1.01, 0.99, 1, 1.02)
	c.Workload, c.Options = kind, map[string]any{}
	for _, l := range c.Launches {
		m := map[string]float64{counted: values}
		for name, v := range quantiles {
			m[name] = v * l.Metrics.At("bandwidth")
		}
		l.Metrics = results.ValuesOf(m)
	}
	return c
}

// Few values make a tail look better than it is, so they excuse no miss: what lies above its bound fails, and so
// does what a lower quantile with enough values shows to be above it.
func TestFewValuesExcuseNoMiss(t *testing.T) {
	for name, test := range map[string]struct {
		kind, counted string
		values        float64
		quantiles     map[string]float64
		subject       *assertion.Expr
		bounds        assertion.Bounds
		want          results.Verdict
	}{
		"beyond the bound itself": {"transfer", "requests.stamped", 64, map[string]float64{"latency.p999": 2e-3},
			metric("latency.p999", "s"), assertion.Bounds{Upper: p(1e-6)}, results.Fail},
		"by its median": {"serving", "requests", 64, map[string]float64{"ttft.p99": 60e-3, "ttft.p50": 50.8e-3},
			metric("ttft.p99", "s"), assertion.Bounds{Upper: p(40e-3)}, results.Fail},
		"its median is not beyond": {"serving", "requests", 64,
			map[string]float64{"ttft.p99": 30e-3, "ttft.p50": 20e-3},
			metric("ttft.p99", "s"), assertion.Bounds{Upper: p(40e-3)}, results.InconclusiveVerdict},
		"below a lower bound by a higher quantile": {"transfer", "requests.stamped", 90,
			map[string]float64{"latency.p999": 2e-6, "latency.p99": 1e-6, "latency.p50": 0.5e-6},
			metric("latency.p50", "s"), assertion.Bounds{Lower: p(4e-6)}, results.Fail},
		"a lower bound of too few values": {"transfer", "requests.stamped", 10,
			map[string]float64{"latency.p99": 1e-6, "latency.p90": 0.9e-6},
			metric("latency.p99", "s"), assertion.Bounds{Lower: p(4e-6)}, results.InconclusiveVerdict},
		"times a constant": {"transfer", "requests.stamped", 64, map[string]float64{"latency.p999": 2e-3},
			&assertion.Expr{Op: assertion.Mul, Args: []*assertion.Expr{
				{Op: assertion.Const, Value: 2}, metric("latency.p999", "s"),
			}}, assertion.Bounds{Upper: p(1e-3)}, results.Fail},
	} {
		c := quantilesOf(test.kind, test.counted, test.values, test.quantiles)
		a := band(nil, nil, []int{5})
		a.Subject, a.Unit, a.Bounds = test.subject, "s", test.bounds
		c.Assertions = []*results.AssertionVerdict{a}
		doc := docOf(c)
		kind, _ := workload.Lookup(test.kind)
		doc.Metrics = []results.MetricTable{kind.Table()}
		Judge(doc)
		if a.Verdict != test.want {
			t.Errorf("%s: %s, want %s: %s", name, a.Verdict, test.want, a.Message)
		}
	}
}

// A quantile with too different launches fails where a lower one is beyond the bound.
func TestALowerQuantileShowsTheMiss(t *testing.T) {
	c := quantilesOf("serving", "requests", 64, map[string]float64{"ttft.p50": 50e-3})
	for i, v := range []float64{60e-3, 300e-3, 55e-3, 2, 70e-3} {
		c.Launches[i].Metrics.Set("ttft.p99", v)
	}
	a := band(nil, p(40e-3), []int{5})
	a.Subject, a.Unit = metric("ttft.p99", "s"), "s"
	c.Assertions = []*results.AssertionVerdict{a}
	doc := docOf(c)
	kind, _ := workload.Lookup("serving")
	doc.Metrics = []results.MetricTable{kind.Table()}
	Judge(doc)
	wantVerdict(t, a, results.Fail)
	if !strings.Contains(a.Message, "ttft.p50") {
		t.Errorf("message %q", a.Message)
	}
}

// That is also so where each launch has values enough, but the interval of p99 has the bound in it. The message tells
// the miss, not that the launches cannot tell.
func TestALowerQuantileShowsTheMissOfScatteredLaunches(t *testing.T) {
	s := stamped{
		stamps: 1000, sigma: 0.2, launch: 0.5, kind: "transfer", metric: "latency.p99", family: "latency",
		level: results.P99,
	}
	decided := 0
	for seed := range uint64(40) {
		verdict, doc := s.session(seed, 3e-5) // the medians are about 1e-4
		a := doc.Cases[0].Assertions[0]
		if verdict != results.Fail || strings.Contains(a.Message, "cannot tell") {
			t.Errorf("seed %d: %s: %s", seed, verdict, a.Message)
		}
		if strings.Contains(a.Message, "which cannot be higher") {
			decided++
		}
	}
	if decided == 0 {
		t.Error("no session was decided by another quantile")
	}
}

// An interval without an upper end is reported as that, with the lower one.
func TestAQuantileOfFewValuesHasNoUpperLimit(t *testing.T) {
	s := stamped{
		stamps: 64, sigma: 0.3, launch: 0.03, kind: "transfer", metric: "latency.p999", family: "latency",
		level: results.P999,
	}
	_, doc := s.session(1, 1)
	a := doc.Cases[0].Assertions[0]
	wantVerdict(t, a, results.InconclusiveVerdict)
	for _, want := range []string{"cannot-tell", "cannot-tell looks=4", "cannot-tell upper=1", "few-samples"} {
		if !has(a.Reasons, want) {
			t.Errorf("message %q has not %q", a.Message, want)
		}
	}
}
