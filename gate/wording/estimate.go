package wording

import (
	"fmt"
	"math"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// observed rebuilds the estimate from a reason.
func observed(r results.Reason) results.Observed {
	v, _ := r.Value("value")
	o := results.Observed{Value: v.Number, Unit: v.Unit}
	if n := r.Number("n"); n != nil {
		o.N = int(*n)
	}
	if low, high := r.Number("low"), r.Number("high"); low != nil && high != nil {
		o.CI = &[2]float64{*low, *high}
	}
	if c := r.Number("confidence"); c != nil {
		o.Confidence = *c
	}
	if looks := r.Number("looks"); looks != nil {
		o.Looks = int(*looks)
	}
	return o
}

// scaleOf is the unit for a value of a reason: that of the bounds as the author wrote them.
func scaleOf(r results.Reason, v float64, unit string) results.Scale {
	if s, ok := results.ScaleOf(unit, r.Text("written")); ok {
		if a := math.Abs(v * s.Factor); v == 0 || a >= smallest && a < largest {
			return s
		}
	}
	return results.ScaleFor(v, unit)
}

// smallest and largest limit the values that are displayed in the author's unit.
const (
	smallest = 0.01
	largest  = 1e6
)

// printed formats the estimate with enough digits for its interval to lie visibly on the correct side of
// the bounds.
func printed(r results.Reason) string {
	o := observed(r)
	return o.Beside(scaleOf(r, o.Value, o.Unit), r.Number("lower"), r.Number("upper"))
}

// estimated formats the estimate and its relation to the bounds.
func estimated(r results.Reason) string {
	if metric := r.Text("gain"); metric != "" {
		return gain(metric, r)
	}
	return fmt.Sprintf("%s %s %s", r.Text("subject"), printed(r), relation(r))
}

// relation formats where the estimate lies relative to the bounds, with the margin.
func relation(r results.Reason) string {
	o := observed(r)
	s := scaleOf(r, o.Value, o.Unit)
	b := boundsOf(r)
	switch r.Kind {
	case results.BelowBound:
		return sign("<", b.Strict) + boundText(s, *b.Lower, o.Unit) + missed(r, s, o, "below")
	case results.AboveBound:
		return sign(">", b.Strict) + boundText(s, *b.Upper, o.Unit) + missed(r, s, o, "above")
	case results.InsideBounds:
		return bounds(b, s) + away(s, o.Value, Nearest(b, o.Value), " from the bound", " the bound")
	}
	against := "against " + strings.TrimPrefix(bounds(b, s), "in ")
	if halo := r.Number("of_halo"); halo != nil {
		b.Lower, b.Upper = r.Number("widened_lower"), r.Number("widened_upper")
		against += fmt.Sprintf(", or %s with the halo of %s", strings.TrimPrefix(bounds(b, s), "in "), Percent(*halo))
	}
	if r.Kind == results.CannotTell {
		return fmt.Sprintf("%s: %s cannot tell", against, Counted(o.N, "launch"))
	}
	crossed := Nearest(b, o.Value)
	return fmt.Sprintf("%s: the interval crosses %s%s", against, s.Exact(crossed), apartFrom(s, o.Value, crossed))
}

// sign is a relation with the space behind it; orEqual adds "=".
func sign(relation string, orEqual bool) string {
	if orEqual {
		return relation + "= "
	}
	return relation + " "
}

// boundsOf rebuilds the bounds from a reason.
func boundsOf(r results.Reason) assertion.Bounds {
	return assertion.Bounds{Lower: r.Number("lower"), Upper: r.Number("upper"), Strict: r.Text("strict") != ""}
}

// missed formats the distance beyond a bound: from the target if there is one, else from the bound. "" if
// both values of a ratio are displayed.
func missed(r results.Reason, s results.Scale, o results.Observed, side string) string {
	if target := r.Number("target"); target != nil {
		called := " the target " + boundText(s, *target, o.Unit)
		return away(s, o.Value, *target, " "+side+called, called)
	}
	if end := r.Number("missed"); end != nil {
		return away(s, o.Value, *end, " "+side, " the bound")
	}
	return ""
}

// bounds formats bounds as a relation.
func bounds(b assertion.Bounds, s results.Scale) string {
	switch {
	case b.Upper == nil:
		return sign(">", !b.Strict) + boundIn(s, *b.Lower)
	case b.Lower == nil:
		return sign("<", !b.Strict) + boundIn(s, *b.Upper)
	}
	return "in " + s.WithUnit("["+s.Exact(*b.Lower)+", "+s.Exact(*b.Upper)+"]")
}

// boundIn formats a bound in the unit of the value, or in a larger one if the number would be very long.
func boundIn(s results.Scale, bound float64) string {
	if v := bound * s.Factor; math.Abs(v) >= 1e5 {
		larger := results.ScaleFor(v, s.Unit)
		return larger.WithUnit(larger.Exact(v))
	}
	return s.WithUnit(s.Exact(bound))
}

// least is the smallest number that is written in the unit of another value.
const least = 0.1

// boundText formats a bound in the unit of the estimate, or in its own if it would be a small fraction of
// that.
func boundText(s results.Scale, bound float64, unit string) string {
	if v := math.Abs(bound * s.Factor); v < least && v > 0 {
		s = results.ScaleFor(bound, unit)
	}
	return s.WithUnit(s.Exact(bound))
}

// Nearest is the bound closer to a value: by the distance as a share of the bound, as messages have it, unless one
// is 0.
func Nearest(b assertion.Bounds, v float64) float64 {
	switch {
	case b.Upper == nil:
		return *b.Lower
	case b.Lower == nil:
		return *b.Upper
	}
	toLower, toUpper := math.Abs(v-*b.Lower), math.Abs(v-*b.Upper)
	if *b.Lower != 0 && *b.Upper != 0 {
		toLower, toUpper = toLower/math.Abs(*b.Lower), toUpper/math.Abs(*b.Upper)
	}
	if toLower < toUpper {
		return *b.Lower
	}
	return *b.Upper
}

// away formats how far a value is from another one, in percent or, if it is far above, as a multiple.
func away(s results.Scale, v, from float64, afterPercent, afterTimes string) string {
	if v == from {
		return "; equal to" + afterTimes
	}
	if times := results.Multiple(v / from); times != "" {
		return "; " + times + afterTimes
	}
	return distance("; ", margin(s, v, from), afterPercent)
}

// apartFrom formats on which side of a bound that its interval crosses an estimate is, and how far.
func apartFrom(s results.Scale, v, bound float64) string {
	side := "above"
	if v < bound {
		side = "below"
	}
	return distance(", the estimate is ", margin(s, v, bound), " "+side)
}

// distance puts text around a margin; "" if there is none.
func distance(before, margin, after string) string {
	if margin == "" {
		return ""
	}
	return before + margin + after
}

// margin formats the distance from a bound in percent of it; "" for an unbounded value.
func margin(s results.Scale, v, bound float64) string {
	if quantity.Endless(v) {
		return ""
	}
	if number := quantity.Digits(math.Abs(v)*s.Factor, 2); bound == 0 && s.Unit == "%" {
		return number + " points"
	} else if bound == 0 {
		return s.WithUnit(number)
	}
	return Percent(math.Abs(v/bound - 1))
}

// gain formats a gain with its interval and bounds in percent: "gain(latency.p50) -0.1% (96% CI -28% to
// +28%, n=8), wanted >= -10%".
func gain(metric string, r results.Reason) string {
	o := observed(r)
	b := boundsOf(r)
	text := fmt.Sprintf("gain(%s) %s", metric, o.Gain(b.Lower, b.Upper))
	text += ", wanted " + bounds(b, results.Percent)
	if crossed := r.Number("crossed"); crossed != nil {
		text += ": the interval crosses " + results.Percent.WithUnit(results.Percent.Exact(*crossed))
	}
	return text
}

// confidence is the confidence of a reason's interval as text.
func confidence(r results.Reason) string {
	if c := r.Number("confidence"); c != nil {
		return results.PercentText(*c)
	}
	return results.ConfidenceText
}

// ratioOf formats both values of a ratio of metrics and their difference: "bandwidth 14.67 GB/s, baseline
// 19.38 GB/s, 24% below: ".
func ratioOf(r results.Reason) string {
	value, _ := r.Value("value")
	of, _ := r.Value("of")
	if ratio := r.Number("ratio"); ratio != nil {
		s := results.ScaleFor(max(math.Abs(value.Number), math.Abs(of.Number)), value.Unit)
		return fmt.Sprintf("%s %s, %s %s, %s: ", r.Text("metric"), inScale(s, value.Number), r.Text("by"),
			inScale(s, of.Number), apart(*ratio))
	}
	return fmt.Sprintf("%s %s, %s %s: ", r.Text("metric"), valueText(value), r.Text("by"), valueText(of))
}

func inScale(s results.Scale, v float64) string {
	text, _, _ := s.Estimate(v, nil)
	return s.WithUnit(text)
}

// apart formats the distance of a ratio from 1.
func apart(ratio float64) string {
	switch share := math.Abs(ratio - 1); {
	case share < 0.0001:
		return "equal"
	case ratio < 1:
		return Percent(share) + " below"
	case results.Multiple(ratio) != "":
		return results.Multiple(ratio) + " that"
	default:
		return Percent(share) + " above"
	}
}

// launchesGave lists the value of each launch in the unit of their estimate.
func launchesGave(r results.Reason) string {
	value, _ := r.Value("value")
	s := scaleOf(r, value.Number, value.Unit)
	var all []string
	for _, v := range r.Values {
		if v.Name == "launch" {
			text, _, _ := s.Estimate(v.Number, nil)
			all = append(all, text)
		}
	}
	return "the launches gave " + s.WithUnit(strings.Join(all, ", "))
}

// pathCarries formats the probed ceiling of the path.
func pathCarries(r results.Reason) string {
	v, _ := r.Value("value")
	text := fmt.Sprintf("this path carries %s here", inScale(scaleOf(r, v.Number, v.Unit), v.Number))
	if r.Kind == results.Unreachable {
		text += ": the target cannot be reached"
	}
	return text
}

// twoModes reports two groups of launches, and names those of the smaller one.
func twoModes(r results.Reason) string {
	low, _ := r.Value("low")
	high, _ := r.Value("high")
	s := results.ScaleFor(high.Number, high.Unit)
	return fmt.Sprintf("two modes: %s near %s, %d near %s; the smaller one: %s",
		Counted(int(*r.Number("low_launches")), "launch"), inScale(s, low.Number), int(*r.Number("high_launches")),
		inScale(s, high.Number), marked(r))
}
