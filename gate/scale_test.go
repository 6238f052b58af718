package gate

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// Errors of rates and times are relative. So it does not matter whether a rate is
// judged, what it would be in another unit, or the time that it is the inverse of: the
// band becomes another one and the verdict stays.
func TestVerdictsDoNotDependOnTheScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(40, 60), 1, 12).Draw(t, "values")
		lower := rapid.Float64Range(40, 50).Draw(t, "lower")
		upper := lower * rapid.Float64Range(1.01, 1.3).Draw(t, "width")
		halo := rapid.SampledFrom([]float64{0, 0.02}).Draw(t, "halo")
		verdict := func(f func(float64) float64, lower, upper, halo float64) results.Verdict {
			var of []float64
			for _, v := range values {
				of = append(of, f(v))
			}
			// a value on a bound is rounded as values are, and so are bounds that a person writes
			a := band(p(quantity.Round(lower)), p(quantity.Round(upper)), looks)
			a.Halo = halo
			judged(caseOf("c", of...), a)
			return a.Verdict
		}
		rate := func(v float64) float64 { return v }
		unit := rapid.Float64Range(1e-3, 1e3).Draw(t, "unit")
		if was, is := verdict(rate, lower, upper, halo),
			verdict(func(v float64) float64 { return v * unit }, lower*unit, upper*unit, halo); was != is {
			t.Fatalf("%s, and %s in another unit", was, is)
		}
		// a halo is a share of the bound that it is beside, which is another one of a time
		if was, is := verdict(rate, lower, upper, 0),
			verdict(func(v float64) float64 { return 1e3 / v }, 1e3/upper, 1e3/lower, 0); was != is {
			t.Fatalf("%s, and %s as a time", was, is)
		}
	})
}

// The geometric mean over cases is that of their geometric means, by hand, and is held
// against a band as a metric is.
func TestGeomeanOverCases(t *testing.T) {
	a, b := caseOf("a", 8, 8.1, 7.9), caseOf("b", 2, 2.02, 1.98)
	over := func(lower float64) *results.AssertionVerdict {
		return &results.AssertionVerdict{Looks: looks, Assertion: assertion.Assertion{
			Name: "geomean", Severity: assertion.Gate, Unit: "GB/s", Bounds: assertion.Bounds{Lower: &lower},
			Cases: []string{"a", "b"},
			Subject: &assertion.Expr{
				Op: assertion.Geomean, Args: []*assertion.Expr{
					of("a", "bandwidth", "GB/s"), of("b", "bandwidth", "GB/s"),
				},
			},
		}}
	}
	holds, fails := over(3.0), over(4.3)
	doc := docOf(a, b)
	doc.Assertions = []*results.AssertionVerdict{holds, fails}
	Judge(doc)
	wantVerdict(t, holds, results.Pass)
	wantVerdict(t, fails, results.Fail)
	want := math.Pow(8*8.1*7.9*2*2.02*1.98, 1./6)
	if got := holds.Observed.Value; math.Abs(got-want) > 1e-9 {
		t.Errorf("geomean %v, want %v", got, want)
	}
}
