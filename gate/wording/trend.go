package wording

import (
	"fmt"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// trend formats a trend with its most telling step: "… in all 4 steps; the nearest is 64KiB -> 128KiB: 3.2
// -> 2.9 GB/s (−9.4%, 96% CI …, n=3)".
func trend(r results.Reason) string {
	text := fmt.Sprintf("%s %s with %s", r.Text("subject"), r.Text("direction"), r.Text("axis"))
	if t := r.Number("tolerance"); t != nil {
		text += " within " + Percent(*t)
	}
	switch steps := *r.Number("steps"); {
	case r.Kind == results.TrendHolds && steps == 1:
		text += " in its one step: "
	case r.Kind == results.TrendHolds:
		text += fmt.Sprintf(" in all %d steps; the nearest is ", int(steps))
	case r.Kind == results.TrendBroken:
		text += ": not from "
	default:
		text += ": not shown from "
	}
	change, _ := r.Value("change")
	from, to := ofStep(r, "from"), ofStep(r, "to")
	var values string
	if change.Unit == share {
		s := results.ScaleFor(from.Value, from.Unit)
		x, _, _ := s.Estimate(from.Value, from.CI)
		y, _, _ := s.Estimate(to.Value, to.CI)
		values = fmt.Sprintf("%s -> %s", x, s.WithUnit(y))
	} else {
		values = fmt.Sprintf("%s -> %s", quantity.Format(from.Value, from.Unit), quantity.Format(to.Value, to.Unit))
	}
	moved := signed(change.Number, change.Unit)
	if change.Unit != share {
		moved = quantity.Format(change.Number, change.Unit)
		if change.Number > 0 {
			moved = "+" + moved
		}
	}
	n := int(*r.Number("n"))
	switch low, high := r.Number("low"), r.Number("high"); {
	case low == nil || high == nil:
	case change.Unit == share && results.UninformativeGain(&[2]float64{*low, *high}):
		moved += ", " + results.TooWide
	default:
		moved += fmt.Sprintf(", %s CI %s to %s", confidence(r), signed(*low, change.Unit), signed(*high, change.Unit))
	}
	return fmt.Sprintf("%s%s -> %s: %s (%s, n=%d)", text, r.Text("from"), r.Text("to"), values, moved, n)
}

// ofStep is the estimate of one case of a step.
func ofStep(r results.Reason, name string) results.Observed {
	v, _ := r.Value(name + "_value")
	o := results.Observed{Value: v.Number, Unit: v.Unit}
	if low, high := r.Number(name+"_low"), r.Number(name+"_high"); low != nil && high != nil {
		o.CI = &[2]float64{*low, *high}
	}
	return o
}

// signed formats a change; a share as percent with its sign.
func signed(v float64, unit string) string {
	if unit != share {
		return quantity.Format(v, unit)
	}
	text := quantity.Digits(v*100, 2)
	if v > 0 {
		text = "+" + text
	}
	return text + "%"
}
