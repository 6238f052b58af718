package schedule

import (
	"fmt"
	"math"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// MaxRate is the highest rate, in requests per second.
const MaxRate = 1e6

// Ramp is a rate that changes linearly, and then stays.
type Ramp struct {
	From, To float64 // requests per second
	Over     int64   // ns
}

// ParseRamp reads FROM..TO over TIME, as 2/s..20/s over 60s.
func ParseRamp(text string) (Ramp, error) {
	rates, over, ok := strings.Cut(text, " over ")
	from, to, two := strings.Cut(rates, "..")
	if !ok || !two {
		return Ramp{}, fmt.Errorf("%q is no ramp: write it as 2/s..20/s over 60s", text)
	}
	first, err := quantity.ReadPerSecond(strings.TrimSpace(from))
	if err != nil {
		return Ramp{}, err
	}
	last, err := quantity.ReadPerSecond(strings.TrimSpace(to))
	if err != nil {
		return Ramp{}, err
	}
	d, err := quantity.ParseTime(strings.TrimSpace(over))
	if err != nil {
		return Ramp{}, err
	}
	r := Ramp{float64(first), float64(last), int64(d)}
	return r, r.check()
}

func (r Ramp) check() error {
	switch {
	case !(r.From >= 0 && r.To >= 0 && r.From <= MaxRate && r.To <= MaxRate):
		return fmt.Errorf("the rates of a ramp are from 0 to %v/s, and these are %v/s and %v/s", MaxRate, r.From, r.To)
	case r.From == 0 && r.To == 0:
		return fmt.Errorf("a ramp from 0/s to 0/s has no requests")
	case r.Over <= 0:
		return fmt.Errorf("a ramp takes a time above 0")
	}
	return nil
}

// String returns the form of ParseRamp.
func (r Ramp) String() string {
	return fmt.Sprintf("%v..%v over %v", quantity.PerSecond(r.From), quantity.PerSecond(r.To), quantity.Time(r.Over))
}

// due returns when this many requests have been scheduled, in ns: the inverse of the integral of the rate. It is +Inf
// if there are never as many. Conversions to float64 prevent fused operations, which round differently.
func (r Ramp) due(requests float64) float64 {
	over := float64(r.Over) / 1e9
	total := (r.From + r.To) / 2 * over
	switch {
	case requests == 0:
		return 0
	case requests > total:
		return (over + (requests-total)/r.To) * 1e9
	}
	slope := (r.To - r.From) / over
	root := math.Sqrt(max(0, float64(r.From*r.From)+float64(2*slope*requests)))
	return 2 * requests / (r.From + root) * 1e9
}
