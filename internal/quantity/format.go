package quantity

import (
	"fmt"
	"math"
	"strconv"
)

// Unbounded represents an infinite time, as the latency of a failed request.
const Unbounded = 1e30

// mostMeasured is larger than any measured value, and smaller than a mean with one Unbounded.
const mostMeasured = 1e20

// UnboundedText is the text of an infinite value.
const UnboundedText = "unbounded"

// Endless reports whether a value is Unbounded, or a mean that includes Unbounded.
func Endless(v float64) bool { return math.Abs(v) >= mostMeasured && !math.IsInf(v, 0) }

// Unending reports whether a value in a unit is shown as UnboundedText: Unbounded itself, or a mean of times that
// includes it. Other large numbers are measured ones.
func Unending(v float64, unit string) bool {
	u, _ := UnitOf(unit)
	a := math.Abs(v) / Unbounded
	return math.Abs(a-1) < 1e-9 || u.Dim == TimeDim && Endless(v) && a < 1
}

// FormatTime formats seconds with a suitable unit: "520 µs", "1.44 ms".
func FormatTime(seconds float64) string {
	for _, u := range []struct {
		symbol string
		f      float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		if math.Abs(seconds) >= u.f {
			return Digits(seconds/u.f, 3) + " " + u.symbol
		}
	}
	return Digits(seconds/1e-9, 3) + " ns"
}

// Format formats a value with its unit; seconds are scaled, other units are kept.
func Format(v float64, unit string) string {
	switch {
	case unit == "s" && Unending(v, unit):
		return UnboundedText
	case unit == "s":
		return FormatTime(v)
	case unit == "":
		return Digits(v, 4)
	}
	return Digits(v, 4) + " " + unit
}

// Digits formats a number with n significant digits, without an exponent between 1e-4 and 1e9, and
// without losing whole digits.
func Digits(v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	if v == 0 {
		return "0"
	}
	a := math.Abs(v)
	if a < 1e-4 || a >= 1e9 {
		return strconv.FormatFloat(v, 'g', n, 64)
	}
	places := n - 1 - int(math.Floor(math.Log10(a)))
	if places < 0 {
		places = 0
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}

// Text formats a value of a scenario or a document as an author would: numbers without an exponent.
func Text(v any) string {
	switch v := v.(type) {
	case nil: // of an axis that leaves a variable unset
		return "null"
	case string:
		return v
	case float64: // a count decoded from JSON
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
