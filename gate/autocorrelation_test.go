package gate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Independent launches are called alike in about 1 % of sessions, those of an autoregressive path often.
func TestAutocorrelationIsNoted(t *testing.T) {
	noted := func(n int, rho float64) float64 {
		const sessions = 2000
		count := 0
		for seed := range uint64(sessions) {
			r := rand.New(rand.NewPCG(seed, 5))
			var values []float64
			x := r.NormFloat64()
			for range n {
				values = append(values, 46*math.Exp(0.03*x))
				x = rho*x + math.Sqrt(1-rho*rho)*r.NormFloat64()
			}
			ps, err := points(nil, caseOf("c", values...), metric("bandwidth", "GB/s"), "GB/s")
			if err != nil {
				t.Fatal(err)
			}
			if !autocorrelated(ps).None() {
				count++
			}
		}
		return float64(count) / sessions
	}
	for _, n := range []int{8, 11, 12, 40} {
		if got := noted(n, 0); got > 0.018 {
			t.Errorf("%d independent launches are called alike in %.1f %% of sessions", n, got*100)
		}
	}
	if got := noted(40, 0.6); got < 0.8 {
		t.Errorf("autocorrelation 0.6 of 40 launches is found in %.0f %% of sessions", got*100)
	}
}

func TestAutocorrelationIsAReason(t *testing.T) {
	drifting := []float64{46, 46.1, 46.3, 46.4, 46.8, 46.7, 47, 47.2, 47.5, 47.4, 47.9, 48}
	a := band(p(30), nil, []int{12})
	judged(caseOf("c", drifting...), a)
	if !has(a.Reasons, "launches-alike") {
		t.Errorf("message %q", a.Message)
	}
	a = band(p(30), nil, []int{12})
	judged(caseOf("c", 46, 46, 46, 46, 46, 46, 46, 46, 46, 46, 46, 46), a)
	if has(a.Reasons, "launches-alike") {
		t.Errorf("message %q", a.Message)
	}
}
