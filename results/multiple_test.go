package results

import (
	"math"
	"testing"
)

// A change to ten times the base and more is told as a multiple, with its interval; a smaller one in percent.
func TestLargeChangesAreMultiples(t *testing.T) {
	for _, c := range []struct {
		ratio            float64
		ci               *[2]float64
		value, low, high string
	}{
		{43.5, nil, "×44", "", ""},
		{0.7214, nil, "-28%", "", ""}, {1.0004, nil, "+0.040%", "", ""},
		{0.5, &[2]float64{0.0001, 400}, "-50%", "", ""},
		{0.5, &[2]float64{0.001, 9}, "-50%", "-100%", "+800%"},
		{191, &[2]float64{25, 1400}, "×190", "×25", "×1400"},
		{10, &[2]float64{9.9, 10.1}, "×10.000", "×9.90", "×10.10"},
		{9.5, &[2]float64{9.4, 9.6}, "+850%", "+840%", "+860%"},
		{0.5, &[2]float64{0.4, 0.6}, "-50%", "-60%", "-40%"},
	} {
		e := Effect{Change: &Change{Value: c.ratio, CI: c.ci}}
		if value, low, high := e.ChangeText(); value != c.value || low != c.low || high != c.high {
			t.Errorf("%g: %s (%s to %s), want %s (%s to %s)", c.ratio, value, low, high, c.value, c.low, c.high)
		}
	}
	bound := 9.
	if value, _, _ := SignedPercent(10.2, nil, &bound); value != "×11.20" || bound != 9 {
		t.Errorf("%s, and the bound is now %g", value, bound)
	}
	for ratio, want := range map[float64]string{
		9.99: "", 10: "10 times", 2820.7: "2800 times", 137101: "140000 times",
		math.Inf(1): "", math.NaN(): "", // of a bound of 0
	} {
		if got := Multiple(ratio); got != want {
			t.Errorf("%g: %q, want %q", ratio, got, want)
		}
	}
}
