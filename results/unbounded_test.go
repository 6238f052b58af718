package results

import "testing"

// Only a time without an end is unbounded, or a mean with one; other large numbers are shown.
func TestUnbounded(t *testing.T) {
	for _, c := range []struct {
		scale Scale
		v     float64
		want  string
	}{
		{Scale{"s", 1}, Unbounded, "unbounded"}, {Micro, Unbounded, "unbounded"}, {Micro, Unbounded / 12, "unbounded"},
		{Scale{"ms", 1e3}, 1e22, "unbounded"}, {Scale{"1/s", 1}, Unbounded, "unbounded"},
		{Scale{"s", 1}, 1e300, "1e+300"}, {Scale{"", 1}, 1e300, "1e+300"}, {Scale{"", 1}, 1e25, "1e+25"},
		{Scale{"B", 1}, 2e21, "2e+21"}, {Scale{"s", 1}, 1e19, "1e+19"},
	} {
		if got, _, _ := c.scale.Estimate(c.v, nil); got != c.want {
			t.Errorf("%v of %v is %s, want %s", c.v, c.scale, got, c.want)
		}
	}
}
