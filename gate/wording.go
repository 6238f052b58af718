package gate

import (
	"fmt"
	"math"
	"strconv"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// describe writes a step as "64KiB -> 128KiB: 3.2 -> 2.9 GB/s (−9.4%, 96% CI …, n=3)".
func (s step) describe(a *results.AssertionVerdict) string {
	scale := results.ScaleFor(s.fromE.center, a.Unit)
	from, _, _ := scale.Estimate(s.fromE.center, s.fromE.ci())
	to, _, _ := scale.Estimate(s.toE.center, s.toE.ci())
	change := math.Log(s.toE.center / s.fromE.center)
	text := signed(change)
	if s.diff.n >= 2 {
		lo, hi := s.diff.lo, s.diff.hi
		if a.Trend.Direction == "decreases" {
			lo, hi = -hi, -lo
		}
		text += fmt.Sprintf(", %s CI %s to %s", results.ConfidenceText, signed(lo), signed(hi))
	}
	return fmt.Sprintf("%s -> %s: %s -> %s (%s, n=%d)", axisText(s.from, a.Trend), axisText(s.to, a.Trend), from, scale.WithUnit(to), text, s.n)
}

// observed is the step as the ratio of its second case to its first.
func (s step) observed(a *results.AssertionVerdict) *results.Observed {
	lo, hi := s.diff.lo, s.diff.hi
	if a.Trend.Direction == "decreases" {
		lo, hi = -hi, -lo
	}
	o := &results.Observed{Value: unlog(math.Log(s.toE.center / s.fromE.center)), N: s.n}
	if s.diff.n >= 2 {
		o.CI = &[2]float64{unlog(lo), unlog(hi)}
	}
	return o
}

// signed writes a log ratio as a change in percent.
func signed(logRatio float64) string {
	v := math.Expm1(logRatio) * 100
	text := quantity.Digits(v, 2)
	if v > 0 {
		text = "+" + text
	}
	return text + "%"
}

func axisText(c *results.Case, t *assertion.Trend) string {
	if v, ok := c.Axes[t.Axis]; ok {
		return workload.Text(v)
	}
	return c.Key
}

func launches(n int) string {
	if n == 1 {
		return "1 launch"
	}
	return strconv.Itoa(n) + " launches"
}

// percent shows two digits of small shares and whole percents of large ones.
func percent(share float64) string {
	if share < 0.0001 {
		return "under 0.01%"
	}
	return quantity.Digits(share*100, 2) + "%"
}

// outlook says what an undecided assertion waits for.
func outlook(next, n int) string {
	if next > 0 {
		return fmt.Sprintf("undecided after %s, the next look is after %d", launches(n), next)
	}
	return fmt.Sprintf("undecided after %s, the last look", launches(n))
}
