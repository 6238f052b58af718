package assertion

import "testing"

func TestInequality(t *testing.T) {
	for lowered, want := range map[string]string{
		"all of 2 cases: a in [1, ∞) GB/s and b in (-∞, -1) ms": "all of 2 cases: a >= 1 GB/s and b < -1 ms",
		"bandwidth@a[n=1] / b in [0.5, ∞)":                      "bandwidth@a[n=1] / b >= 0.5",
		"latency.p99 in (-∞, 3] ms":                             "latency.p99 <= 3 ms",
		"error_rate in (-∞, 0]":                                 "error_rate <= 0",
		"latency.p99 in (-∞, 3) ms":                             "latency.p99 < 3 ms",
		"a / b@r[x=1,y=2] in [0.3, ∞)":                          "a / b@r[x=1,y=2] >= 0.3",
		"message_rate in (100, ∞) 1/s":                          "message_rate > 100 1/s",
		"bandwidth in [1, 2] GB/s":                              "bandwidth in [1, 2] GB/s",
		"imbalance increases with maxvio":                       "imbalance increases with maxvio",
		"all(a in [1, ∞) GB/s, b in (-∞, -2] s)":                "all(a >= 1 GB/s, b <= -2 s)",
	} {
		if got := (Assertion{Lowered: lowered}).Inequality(); got != want {
			t.Errorf("%s became %s, want %s", lowered, got, want)
		}
	}
}
