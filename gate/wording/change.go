package wording

import (
	"fmt"
	"math"

	"github.com/weir-bench/weir/results"
)

// effect rebuilds the change with both sides from a reason.
func effect(r results.Reason) *results.Effect {
	side := func(name string) *results.Observed {
		v, _ := r.Value(name)
		o := &results.Observed{Value: v.Number, Unit: v.Unit}
		if low, high := r.Number(name+"_low"), r.Number(name+"_high"); low != nil && high != nil {
			o.CI = &[2]float64{*low, *high}
		}
		if n := r.Number(name + "_n"); n != nil {
			o.N = int(*n)
		}
		return o
	}
	e := &results.Effect{Additive: r.Kind == results.ChangedBy, Base: side("base"), New: side("new")}
	change := side("change")
	e.Unit, e.Change = e.Base.Unit, &results.Change{Value: change.Value, CI: change.CI, Found: r.Text("found") != ""}
	if pairs := r.Number("pairs"); pairs != nil {
		e.Pairs = int(*pairs)
	}
	return e
}

// changed formats a change: "46.1 -> 43.0 GB/s: -6.7% (96% CI -7.9% to -5.4%, 8 pairs)".
func changed(r results.Reason) string {
	e := effect(r)
	s := results.ScaleFor(max(math.Abs(e.Base.Value), math.Abs(e.New.Value)), e.Unit)
	from, _, _ := s.Estimate(e.Base.Value, e.Base.CI)
	to, _, _ := s.Estimate(e.New.Value, e.New.CI)
	change, low, high := e.ChangeText()
	text := fmt.Sprintf("%s -> %s: %s", from, s.WithUnit(to), change)
	n := fmt.Sprintf("%d and %s", e.Base.N, Counted(e.New.N, "launch"))
	if e.Pairs > 0 && e.Pairs == e.Base.N && e.Pairs == e.New.N {
		n = Counted(e.Pairs, "pair")
	}
	switch {
	case e.Change.CI == nil:
		return text + " (" + n + ")"
	case low == "":
		return text + " (" + n + ", " + results.TooWide + ")"
	}
	text += fmt.Sprintf(" (%s CI %s to %s, %s)", results.ConfidenceText, low, high, n)
	if !e.Change.Found {
		text += ", not significant"
	}
	return text
}

// fromShift formats how a case differs from the common shift.
func fromShift(r results.Reason) string {
	value, low, high := effect(r).ChangeText()
	return fmt.Sprintf("%s (%s to %s) against the shift of all cases", value, low, high)
}
