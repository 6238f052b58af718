package reporters

import (
	"fmt"
	"math"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// margin is the distance of an estimate from its target, else from the bound that it misses, or from the
// nearest one, as in the message. "" for inconclusive assertions, with the crossed bound in the message.
// For a share of a baseline it is the distance from the baseline.
func margin(a *results.AssertionVerdict) string {
	v := a.Observed.Value
	switch {
	case a.Verdict == results.InconclusiveVerdict, quantity.Endless(v):
		return ""
	case ofBaseline(a.Subject) && v > 0:
		return distance(v, 1) + " the baseline"
	case a.Subject != nil && len(a.Subject.Leaves()) > 1:
		return ""
	case a.Target != nil:
		return awayFrom(v, *a.Target, a.Unit, "the target ")
	}
	best, text := math.Inf(1), ""
	for _, b := range []struct {
		end     *float64
		outside bool
	}{
		{a.Bounds.Lower, a.Bounds.Lower != nil && v < *a.Bounds.Lower},
		{a.Bounds.Upper, a.Bounds.Upper != nil && v > *a.Bounds.Upper},
	} {
		if b.end == nil || *b.end == 0 {
			continue
		}
		by := math.Abs(v / *b.end - 1)
		if b.outside {
			by = -by // within all bounds
		}
		if by < best {
			best, text = by, awayFrom(v, *b.end, a.Unit, "")
		}
	}
	return text
}

// awayFrom is the distance of a value from another as a share of it, "" for 0.
func awayFrom(v, from float64, unit, called string) string {
	if from == 0 {
		return ""
	}
	s := results.ScaleFor(from, unit)
	return fmt.Sprintf("%s %s%s", distance(v, from), called, s.WithUnit(s.Exact(from)))
}

// distance is the signed distance of two values as text: "9.4% above", "43 times".
func distance(v, from float64) string {
	if times := results.Multiple(v / from); times != "" {
		return times
	}
	word := "above"
	if v < from {
		word = "below"
	}
	return fmt.Sprintf("%s%% %s", quantity.Digits(math.Abs(v/from-1)*100, 2), word)
}

// ofBaseline reports whether a subject is a metric as a share of its baseline.
func ofBaseline(e *assertion.Expr) bool {
	return e != nil && e.Op == assertion.Div && len(e.Args) == 2 && e.Args[0] != nil && e.Args[1] != nil &&
		e.Args[0].Op == assertion.Metric && e.Args[1].Op == assertion.Metric && e.Args[1].Baseline &&
		e.Args[0].Metric == e.Args[1].Metric
}
