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
func (s step) describe(a *results.AssertionVerdict, lv levels) string {
	scale := results.ScaleFor(s.fromE.center, a.Unit)
	from, _, _ := scale.Estimate(s.fromE.center, s.fromE.ci())
	to, _, _ := scale.Estimate(s.toE.center, s.toE.ci())
	if s.linear {
		return fmt.Sprintf("%s -> %s: %s -> %s (%s, n=%d)%s", axisText(s.from, a.Trend), axisText(s.to, a.Trend),
			quantity.Format(quantity.Round(s.fromE.center), a.Unit),
			quantity.Format(quantity.Round(s.toE.center), a.Unit),
			s.movedText(a.Unit, lv), s.n, s.modes)
	}
	change := math.Log(s.toE.center / s.fromE.center)
	text := signed(change)
	if s.diff.n >= 2 {
		lo, hi := s.diff.lo, s.diff.hi
		if a.Trend.Direction == "decreases" {
			lo, hi = -hi, -lo
		}
		text += fmt.Sprintf(", %s CI %s to %s", results.PercentText(lv.stated), signed(lo), signed(hi))
	}
	return fmt.Sprintf("%s -> %s: %s -> %s (%s, n=%d)%s", axisText(s.from, a.Trend), axisText(s.to, a.Trend), from,
		scale.WithUnit(to), text, s.n, s.modes)
}

// movedText is the difference of a step with a value of 0.
func (s step) movedText(unit string, lv levels) string {
	text := quantity.Format(quantity.Round(s.moved.center), unit)
	if s.moved.center > 0 {
		text = "+" + text
	}
	if s.moved.n < 2 {
		return text
	}
	return fmt.Sprintf("%s, %s CI %s to %s", text, results.PercentText(lv.stated),
		quantity.Format(quantity.Round(s.moved.lo), unit), quantity.Format(quantity.Round(s.moved.hi), unit))
}

// observed is the step as the ratio of its second case to its first, or as their difference where one may be 0.
func (s step) observed(a *results.AssertionVerdict, lv levels) *results.Observed {
	if s.linear {
		return lv.observed(s.moved, a.Unit)
	}
	lo, hi := s.diff.lo, s.diff.hi
	if a.Trend.Direction == "decreases" {
		lo, hi = -hi, -lo
	}
	o := lv.observed(estimate{center: unlog(math.Log(s.toE.center / s.fromE.center)), n: s.n}, "")
	o.CI = nil
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

// longSubject is where a subject is too long to be read in a message.
const longSubject = 160

// shown is a subject as messages write it.
func shown(e *assertion.Expr) string {
	if text := e.String(); len(text) <= longSubject {
		return text
	}
	return fmt.Sprintf("its value over %s", counted(len(e.Cases()), "case"))
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// retriedIn says which launches of some cases were made again, and how many of
// those that were made succeeded.
func retriedIn(cases []*results.Case) string {
	made, again := 0, 0
	why := ""
	for _, c := range cases {
		made += len(c.Launches)
		for _, l := range c.Launches {
			if !l.Retried {
				continue
			}
			again++
			if why == "" && l.Failure != nil {
				why = ": " + l.Failure.String()
			}
		}
	}
	if again == 0 {
		return ""
	}
	if again > 1 && why != "" {
		why = ", the first" + why
	}
	return fmt.Sprintf("; %s retried%s; %d of %d succeeded", launches(again), why, made-again, made)
}

func retried(sources []*source) string {
	var cases []*results.Case
	for _, s := range sources {
		if s.c != nil {
			cases = append(cases, s.c)
		}
	}
	return retriedIn(cases)
}

func (eval *evaluator) casesOf(keys []string) []*results.Case {
	var out []*results.Case
	for _, k := range keys {
		if c := eval.cases[k]; c != nil {
			out = append(out, c)
		}
	}
	return out
}
