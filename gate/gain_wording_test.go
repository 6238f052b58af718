package gate

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// A gain is reported in percent, with what was wanted, and has the same interval in the table of gains.
func TestGainIsToldInPercentAndOnce(t *testing.T) {
	doc := varied([]float64{10, 10.1, 9.9, 10.05, 9.95}, []float64{9.9, 10.2, 9.95, 10.1, 9.8})
	old, now := doc.Cases[0], doc.Cases[1]
	number := &assertion.Expr{Op: assertion.Const, Value: 1}
	a := band(p(-0.1), nil, []int{5, 8})
	a.Unit = ""
	a.Subject = &assertion.Expr{Op: assertion.Sub, Args: []*assertion.Expr{
		ratio(metric("bandwidth", "GB/s"), of(old.Key, "bandwidth", "GB/s")), number,
	}}
	now.Assertions = []*results.AssertionVerdict{a}
	Judge(doc)
	for _, want := range []string{"gain(bandwidth) -0.", "% (96% CI -", "% to +", "over 2 looks", "wanted >= -10%"} {
		if !strings.Contains(a.Message, want) {
			t.Errorf("message %q does not say %q", a.Message, want)
		}
	}
	if row := doc.Gains[0].Rows[0]; *row.Gain.CI != *a.Observed.CI || row.Gain.Value != a.Observed.Value {
		t.Errorf("the table says %v %v, the verdict %v %v", row.Gain.Value, *row.Gain.CI, a.Observed.Value,
			*a.Observed.CI)
	}
}

// Values are reported in the unit of the bound as the author wrote it.
func TestValuesAreToldInTheAuthorsUnit(t *testing.T) {
	for _, test := range []struct {
		value         float64
		unit, written string
		bound         float64
		want          string
	}{
		{30e6, "ns", "ms", 5e6, "30.00 ms (n=1) > 5 ms"},
		{30e6, "ns", "", 5e6, "30.00 ms (n=1) > 5 ms"},
		{210e6, "B/s", "MB/s", 100e6, "210.0 MB/s (n=1) > 100 MB/s"},
		{30e-3, "s", "us", 5e-3, "30000 µs (n=1) > 5000 µs"},
		{50, "GB/s", "Gb/s", 40, "400.0 Gb/s (n=1) > 320 Gb/s"},
		{0.03, "", "%", 0.02, "3.000% (n=1) > 2%"},
		{20e-9, "s", "s", 10e-9, "20.00 ns (n=1) > 10 ns"},
	} {
		c := caseOf("c", 1)
		c.Launches[0].Metrics.Set("latency.avg", test.value)
		a := band(nil, p(test.bound), []int{1})
		a.Subject, a.Unit, a.Written = metric("latency.avg", test.unit), test.unit, test.written
		judged(c, a)
		if !strings.Contains(a.Message, test.want) {
			t.Errorf("message %q does not say %q", a.Message, test.want)
		}
	}
}

// The bound of a ratio that is no share of it is not told in percent.
func TestBoundOfARatio(t *testing.T) {
	c := caseOf("c", 1)
	c.Launches[0].Metrics.Set("latency.p99", 23.72e-3)
	c.Launches[0].Metrics.Set("latency.p50", 178e-6)
	a := band(nil, p(5), []int{1})
	a.Subject, a.Unit = ratio(metric("latency.p99", "s"), metric("latency.p50", "s")), ""
	judged(c, a)
	want := "latency.p99 23.72 ms, latency.p50 178.0 µs: latency.p99 / latency.p50 133.3 (n=1) > 5"
	if !strings.Contains(a.Message, want) {
		t.Errorf("message %q", a.Message)
	}
}

// An amount has no interval below zero, however few and different its launches are.
func TestNoAmountIsNegative(t *testing.T) {
	c := caseOf("c", 1, 1, 1)
	c.Workload = "serving"
	for i, v := range []float64{1000, 2900, 2100} {
		c.Launches[i].Metrics = results.ValuesOf(map[string]float64{"output_throughput": v, "ttft.p50": v * 1e-4})
	}
	doc := docOf(c)
	Judge(doc)
	for name, m := range doc.Cases[0].Metrics.All() {
		if m.CI[0] < 0 {
			t.Errorf("%s %v has the interval %v", name, m.Value, *m.CI)
		}
	}
}

// A gain is a ratio less one: it has the verdict and the interval of the ratio, which cannot be below zero,
// however much the launches vary.
func TestGainIsJudgedAsItsRatio(t *testing.T) {
	one := &assertion.Expr{Op: assertion.Const, Value: 1}
	for name, c := range map[string]struct {
		old, now []float64
		minimum  float64
	}{
		"by far, and launches vary": {[]float64{1, 4, 9, 2}, []float64{3, 30, 12, 100}, -0.5},
		"slower":                    {[]float64{10, 10.1, 9.9, 10}, []float64{9, 9.1, 8.9, 9}, -0.05},
		"faster":                    {[]float64{10, 10.1, 9.9, 10}, []float64{12, 12.1, 11.9, 12}, 0.15},
		"at the bound":              {[]float64{10, 11, 9, 10}, []float64{11, 12.1, 9.9, 11}, 0.1},
	} {
		for _, lower := range []bool{false, true} { // 1 - x/b is a gain where less is better
			judge := func(
				subject func(x *assertion.Expr) *assertion.Expr, bounds assertion.Bounds,
			) *results.AssertionVerdict {
				doc := varied(c.old, c.now)
				a := band(bounds.Lower, bounds.Upper, []int{4})
				x := ratio(metric("bandwidth", "GB/s"), of(doc.Cases[0].Key, "bandwidth", "GB/s"))
				a.Unit, a.Subject = "", subject(x)
				doc.Cases[1].Assertions = []*results.AssertionVerdict{a}
				Judge(doc)
				return a
			}
			itself := func(x *assertion.Expr) *assertion.Expr { return x }
			less := func(x *assertion.Expr) *assertion.Expr {
				return &assertion.Expr{Op: assertion.Sub, Args: []*assertion.Expr{x, one}}
			}
			sign := 1.0
			bounds, asRatio := assertion.Bounds{Lower: p(c.minimum)}, assertion.Bounds{Lower: p(1 + c.minimum)}
			if lower {
				less = func(x *assertion.Expr) *assertion.Expr {
					return &assertion.Expr{Op: assertion.Sub, Args: []*assertion.Expr{one, x}}
				}
				sign, asRatio = -1, assertion.Bounds{Upper: p(1 - c.minimum)}
			}
			gain, whole := judge(less, bounds), judge(itself, asRatio)
			to := func(v float64) float64 { return sign * (v - 1) }
			want := []float64{to(whole.Observed.Value), to(whole.Observed.CI[0]), to(whole.Observed.CI[1])}
			if lower {
				want[1], want[2] = want[2], want[1]
			}
			got := []float64{gain.Observed.Value, gain.Observed.CI[0], gain.Observed.CI[1]}
			if gain.Verdict != whole.Verdict || !floats.EqualApprox(got, want, 1e-9) {
				t.Errorf("%s: gain %s %v, ratio %s, wanted %v", name, gain.Verdict, got, whole.Verdict, want)
			}
			if !lower && got[1] < -1 || lower && got[2] > 1 {
				t.Errorf("%s: impossible interval %v", name, got)
			}
		}
	}
}
