package reporters

import "testing"

// A bound is written as in an assertion, an interval with two ends as an interval.
func TestPromisedText(t *testing.T) {
	for lowered, want := range map[string]string{
		"bandwidth in [40, ∞) GB/s":                             "bandwidth >= 40 GB/s",
		"latency.p99 in (-∞, 10] µs":                            "latency.p99 <= 10 µs",
		"bandwidth in [1, 2] GB/s":                              "bandwidth in [1, 2] GB/s",
		"bandwidth@a[n=1] / b in [0.5, ∞)":                      "bandwidth@a[n=1] / b >= 0.5",
		"all of 2 cases: a in [1, ∞) GB/s and b in (-∞, -1] ms": "all of 2 cases: a >= 1 GB/s and b <= -1 ms",
		"bandwidth increases with n":                            "bandwidth increases with n",
	} {
		if got := promisedText(lowered); got != want {
			t.Errorf("%s is %q, want %q", lowered, got, want)
		}
	}
}
