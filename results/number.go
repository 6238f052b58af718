package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// Scale is a display unit: seconds become ms, µs or ns, every other unit is kept. A value and its interval
// share one scale.
type Scale struct {
	Unit   string
	Factor float64 // value · Factor is in Unit
}

// Micro is the scale of time columns, which have one unit for all rows.
var Micro = Scale{"µs", 1e6}

// Unbounded is the value of a time without an end, such as the latency of a failed request.
const Unbounded = quantity.Unbounded

// Percent is the scale of shares.
var Percent = Scale{"%", 100}

// manyTimes is the ratio of two values from which readers get a multiple and no percentage.
const manyTimes = 10

// Multiple formats a large ratio of two values with two digits: "43 times". It is "" for one that percent tell better.
func Multiple(ratio float64) string {
	if !(ratio >= manyTimes) || math.IsInf(ratio, 0) || quantity.Endless(ratio) { // a bound of 0 has no multiples
		return ""
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(ratio, 'e', 1, 64), 64) // of what was formatted
	return strconv.FormatFloat(rounded, 'f', -1, 64) + " times"
}

// ScaleFor chooses the scale for values near v: a fitting one for times, a larger unit from a thousand on
// for small rates. Other units are kept.
func ScaleFor(v float64, unit string) Scale {
	u, _ := quantity.UnitOf(unit)
	a := math.Abs(v * u.Factor)
	switch {
	case u.Dim == quantity.TimeDim && u.Factor <= 1:
		switch {
		case a >= 1:
			return Scale{"s", u.Factor}
		case a >= 1e-3:
			return Scale{"ms", u.Factor * 1e3}
		case a >= 1e-6:
			return Scale{"µs", quantity.Round(u.Factor * 1e6)}
		}
		return Scale{"ns", quantity.Round(u.Factor * 1e9)}
	case slices.Contains([]string{"B/s", "kB/s", "KB/s", "MB/s"}, unit) && math.Abs(v) >= 1000:
		for _, larger := range []string{"GB/s", "MB/s", "kB/s"} {
			if l, _ := quantity.UnitOf(larger); a >= l.Factor {
				return Scale{larger, quantity.Round(u.Factor / l.Factor)}
			}
		}
	}
	return Scale{unit, 1}
}

// ScaleOf converts between units of the same dimension; ok is false if there is no such scale.
func ScaleOf(unit, in string) (Scale, bool) {
	from, known := quantity.UnitOf(unit)
	to, also := quantity.UnitOf(in)
	if in == "" || !known || !also || from.Dim != to.Dim {
		return Scale{}, false
	}
	if in == "us" {
		in = Micro.Unit
	}
	return Scale{in, quantity.Round(from.Factor / to.Factor)}, true
}

// singleLaunch is the number of significant digits without an interval.
const singleLaunch = 4

// Estimate formats a value and its interval with the digits that the interval supports: the ends to the
// first digit of the half-width, the value to one more. More digits are used if a rounded end would move
// to the other side of a bound. All reports and messages round here, so that numbers agree.
func (s Scale) Estimate(v float64, ci *[2]float64, bounds ...*float64) (value, low, high string) {
	v *= s.Factor
	if ci == nil {
		return s.fixed(v, singleLaunch-1-exponent(v)), "", ""
	}
	lo, hi := ci[0]*s.Factor, ci[1]*s.Factor
	half := (hi - lo) / 2
	if half <= 0 || math.IsInf(half, 0) {
		text := s.fixed(v, singleLaunch-1-exponent(v))
		return text, text, text
	}
	places := -exponent(half)
	for extra := 0; ; extra++ {
		at, to := significant(lo, places)+extra, significant(hi, places)+extra
		if extra == mostDigits || s.sameSides(lo, at, bounds) && s.sameSides(hi, to, bounds) {
			return s.rounded(v, significant(v, places+1)+extra), s.rounded(lo, at), s.rounded(hi, to)
		}
	}
}

// mostDigits limits the number of digits.
const mostDigits = 9

// sameSides reports whether a rounded number stays on the same side of all bounds.
func (s Scale) sameSides(v float64, places int, bounds []*float64) bool {
	unit := math.Pow10(-places)
	rounded := quantity.Round(math.Round(v/unit) * unit)
	for _, b := range bounds {
		if b == nil {
			continue
		}
		bound := quantity.Round(*b * s.Factor)
		if v < bound != (rounded < bound) || v > bound != (rounded > bound) {
			return false
		}
	}
	return true
}

// Exact formats a configured number, such as a bound: up to six digits, without trailing zeros.
func (s Scale) Exact(v float64) string {
	v = quantity.Round(v * s.Factor)
	if a := math.Abs(v); a >= 1e9 || a < 1e-4 {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	text := s.fixed(v, max(5-exponent(v), 0))
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// WithUnit appends the scale's unit to a number.
func (s Scale) WithUnit(number string) string {
	if number == quantity.UnboundedText {
		return number
	}
	if s.Unit == "" || s.Unit == "%" {
		return number + s.Unit
	}
	return number + " " + s.Unit
}

// String formats the estimate as in messages and reports: "40.91 GB/s (96% CI 40.2–41.6, n=5)".
func (o Observed) String() string { return o.Beside(ScaleFor(o.Value, o.Unit)) }

// widest is the largest factor between a value and an end of its interval that is displayed.
const widest = 1e4

// Interval formats the ends of an interval with the digits of Estimate: "40.2–41.6". Of an end beyond any that is
// displayed, and beyond all bounds, it has the side only: "<0.000012".
func (s Scale) Interval(v float64, ci *[2]float64, bounds ...*float64) string {
	_, low, high := s.Estimate(v, ci, bounds...)
	least, most := v/widest, v*widest
	for _, b := range bounds {
		if b != nil {
			least, most = min(least, *b), max(most, *b)
		}
	}
	if ci[0] > 0 && ci[0] < least {
		low = "<" + s.limit(least*s.Factor)
	}
	if ci[0] > 0 && ci[1] > most {
		high = ">" + s.limit(most*s.Factor)
	}
	return low + "–" + high
}

// limit formats the end of an interval that is beyond any that is displayed.
func (s Scale) limit(v float64) string {
	if v < 1e-6 {
		return quantity.Digits(v, 2)
	}
	return s.twoDigits(v)
}

// TooWide says of an interval that its ends are not displayed.
const TooWide = "the interval is too wide"

// Gain formats an estimate of a gain in percent, with signs: "+5.1% (96% CI +4.2% to +6.0%, n=5)".
func (o Observed) Gain(bounds ...*float64) string {
	value, low, high := SignedPercent(o.Value, o.CI, bounds...)
	switch {
	case o.CI == nil:
		return fmt.Sprintf("%s (n=%d)", value, o.N)
	case UninformativeGain(o.CI):
		return fmt.Sprintf("%s (n=%d, %s)", value, o.N, TooWide)
	}
	return fmt.Sprintf("%s (%s CI %s to %s%s, n=%d)", value, o.confidence(), low, high, o.overLooks(), o.N)
}

// overLooks says that several looks share the error.
func (o Observed) overLooks() string {
	if o.Looks < 2 {
		return ""
	}
	return fmt.Sprintf(" over %d looks", o.Looks)
}

func (o Observed) confidence() string {
	if o.Confidence == 0 {
		return ConfidenceText
	}
	return PercentText(o.Confidence)
}

// PercentText formats a confidence with all of its nines.
func PercentText(c float64) string {
	return strconv.FormatFloat(quantity.Round(c*100), 'g', 8, 64) + "%"
}

// Confidence is the confidence of intervals in the document unless they state another: 2 % of error on
// each side, shared by the looks of an assertion.
const Confidence = assertion.Confidence

// ConfidenceText is Confidence for readers.
const ConfidenceText = "96%"

// significant limits decimal places to two to five significant digits of v: a wide interval must not round
// the value away, and a narrow one of few launches does not support more.
func significant(v float64, places int) int {
	e := exponent(v)
	return min(max(places, 1-e), 4-e)
}

// exponent is the place of the first digit: 0 for 1 to 9.99….
func exponent(v float64) int {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	return int(math.Floor(math.Log10(math.Abs(v))))
}

// rounded rounds v to a place; digits before the point become zeros, so that 12118 with an interval of
// thousands is 12100.
func (s Scale) rounded(v float64, places int) string {
	if places < 0 {
		unit := math.Pow10(-places)
		v = math.Round(v/unit) * unit
	}
	return s.fixed(v, places)
}

// twoDigits rounds v to two digits.
func (s Scale) twoDigits(v float64) string { return s.rounded(v, 1-exponent(v)) }

// fixed formats v with a number of decimal places; only numbers too long to read have an exponent.
func (s Scale) fixed(v float64, places int) string {
	switch {
	case v == 0:
		return "0"
	case quantity.Unending(v/s.Factor, s.Unit):
		return quantity.UnboundedText
	}
	if a := math.Abs(v); a >= 1e9 || a < 1e-6 {
		return strconv.FormatFloat(v, 'g', singleLaunch, 64)
	}
	return strconv.FormatFloat(v, 'f', max(places, 0), 64)
}

// Beside formats the estimate with enough digits for the ends of its interval to be on the correct sides
// of the bounds. The scale is of the estimate's unit.
func (o Observed) Beside(s Scale, bounds ...*float64) string {
	value, _, _ := s.Estimate(o.Value, o.CI, bounds...)
	if o.CI == nil || quantity.Endless(o.Value) {
		return fmt.Sprintf("%s (n=%d)", s.WithUnit(value), o.N)
	}
	ends := s.Interval(o.Value, o.CI, bounds...)
	if quantity.Endless(o.CI[1]) && o.CI[0] > o.Value/widest { // a quantile of too few values has a lower limit only
		low, _, _ := s.Estimate(o.CI[0], nil)
		ends = fmt.Sprintf("from %s without an upper limit", low)
	}
	return fmt.Sprintf("%s (%s CI %s%s, n=%d)", s.WithUnit(value), o.confidence(), ends, o.overLooks(), o.N)
}

// Uninformative reports whether an interval spans more than a factor of a hundred, as for two launches.
func Uninformative(ci *[2]float64) bool {
	return ci[0] > 0 && ci[1] > 100*ci[0]
}

// UninformativeGain is Uninformative for an interval of a gain as a share: it tells neither the sign nor some percent
// from many times.
func UninformativeGain(ci *[2]float64) bool {
	return ci[0] <= 0 && ci[1] >= 0 && ci[1]-ci[0] > manyTimes
}
