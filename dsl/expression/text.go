package expression

import (
	"math"
	"strconv"

	"weir/assertion"
	"weir/quantity"
)

// bandText says what is judged, with numbers: "bandwidth in [41.832, 51.128] GB/s".
func bandText(a assertion.Assertion) string {
	scale, unit := 1.0, a.Unit
	if unit == "s" {
		scale, unit = timeScale(a.Bounds)
	}
	text := a.Subject.String() + " in "
	if a.Bounds.Lower == nil {
		text += "(-∞, "
	} else {
		text += "[" + number(quantity.Round(*a.Bounds.Lower/scale)) + ", "
	}
	if a.Bounds.Upper == nil {
		text += "∞)"
	} else {
		text += number(quantity.Round(*a.Bounds.Upper/scale)) + "]"
	}
	if unit != "" {
		text += " " + unit
	}
	return text
}

// timeScale is the unit of time in which the larger bound is at least 1.
func timeScale(b assertion.Bounds) (float64, string) {
	var largest float64
	for _, v := range []*float64{b.Lower, b.Upper} {
		if v != nil {
			largest = max(largest, math.Abs(*v))
		}
	}
	switch {
	case largest >= 1 || largest == 0:
		return 1, "s"
	case largest >= 1e-3:
		return 1e-3, "ms"
	case largest >= 1e-6:
		return 1e-6, "µs"
	}
	return 1e-9, "ns"
}

func trendText(subject *assertion.Expr, t *assertion.Trend) string {
	text := subject.String() + " " + t.Direction + " with " + t.Axis
	if t.Tolerance > 0 {
		text += ", steps back of up to " + number(quantity.Round(t.Tolerance*100)) + "% allowed"
	}
	return text
}

func number(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e15) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
