package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// Outliers are marked, never dropped: Iglewicz and Hoaglin's modified z-score exceeds a limit by number of
// launches (outlierLimits), so that 5 % of clean sessions have one. Below five launches the median
// absolute deviation is uninformative.
const (
	outlierMinPoints = 5
	// rounding is the relative difference that arithmetic alone may cause: launches that agree to nine digits
	// have no outliers.
	rounding = 1e-9
)

// outliers reports for each point whether it is an outlier.
func outliers(d *workload.Definitions, subject *assertion.Expr, ps []point) []bool {
	vs := valuesOf(ps)
	if positive(d, subject) {
		vs = logs(vs)
	}
	scale := 1.0
	if len(vs) > 0 {
		scale = max(math.Abs(median(vs)), 1)
	}
	return outlierMask(vs, scale)
}

// secondMode reports whether too many launches are marked to be outliers: at least two and above a
// quarter, or at least three and above an eighth. They are a second mode of the path, and leaving them out
// would judge the other mode alone.
func secondMode(marked []bool) bool {
	n := number(marked)
	return n >= 2 && n*4 > len(marked) || n >= 3 && n*8 > len(marked)
}

func number(marked []bool) (n int) {
	for _, m := range marked {
		if m {
			n++
		}
	}
	return n
}

// outlierMask reports which values are outliers; scale is the magnitude of the values, for the rounding
// limit.
func outlierMask(vs []float64, scale float64) []bool {
	out := make([]bool, len(vs))
	if len(vs) < outlierMinPoints {
		return out
	}
	center := median(vs)
	dev := make([]float64, len(vs))
	for i, v := range vs {
		dev[i] = math.Abs(v - center)
	}
	// The factors 1/0.6745 and 1.2533 turn the median and the mean absolute deviation into estimates of the
	// standard deviation. The mean is used if more than half of the values are equal and the median deviation
	// is 0.
	sd := median(dev) / 0.6745
	if sd == 0 {
		mean, _ := moments(dev)
		sd = 1.2533 * mean
	}
	limit := interpolated(outlierLimits, len(vs))
	for i := range dev {
		out[i] = dev[i] > limit*sd && dev[i] > rounding*scale
	}
	return out
}

// without returns the points that are not marked.
func without(ps []point, marked []bool) []point {
	var out []point
	for i, p := range ps {
		if !marked[i] {
			out = append(out, p)
		}
	}
	return out
}

// clamped is the estimate of a check of one bound with the values on the far side of a limit moved to it: below least
// for an upper bound, above most for a lower one; nil if there are none. The mean of the moved values is nearer to the
// bound than that of the launches, so a bound that it keeps is kept, while the spread of the others would widen the
// interval towards the bound.
func (check boundCheck) clamped(
	ps []point, least, most float64, estimator func([]point) interval,
) interval {
	low, high := check.bounds.Lower, check.bounds.Upper
	if (low == nil) == (high == nil) {
		return nil
	}
	moved := slices.Clone(ps)
	for i := range ps {
		if v := &moved[i].value; high != nil {
			*v = max(*v, least)
		} else {
			*v = min(*v, most)
		}
	}
	if slices.Equal(valuesOf(moved), valuesOf(ps)) {
		return nil
	}
	return check.endNearBound(estimator(ps), estimator(moved))
}

// endNearBound is the interval own with the end that is next to the only bound taken from near.
func (check boundCheck) endNearBound(own, near interval) interval {
	return func(confidence float64) estimate {
		e, n := own(confidence), near(confidence)
		if check.bounds.Upper != nil {
			e.hi = n.hi
		} else {
			e.lo = n.lo
		}
		return e
	}
}

// limitsOfOthers are the least and the largest of the values that are not marked.
func limitsOfOthers(values []float64, marked []bool) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for i, v := range values {
		if !marked[i] {
			least, most = min(least, v), max(most, v)
		}
	}
	return least, most
}

// outlierValues lists the marked launches with their values, nodes and times.
func outlierValues(of string, ps []point, marked []bool, unit string) []results.Value {
	var names []results.Value
	for i, p := range ps {
		if !marked[i] {
			continue
		}
		name := results.Number("launch", p.value, unit)
		name.Text = of + results.LaunchName(p.launch.Index)
		of = ""
		var seen []string
		if len(p.launch.Nodes) > 0 {
			seen = append(seen, "on "+strings.Join(distinct(p.launch.Nodes), ", "))
		}
		if !p.launch.Started.IsZero() {
			seen = append(seen, "at "+p.launch.Started.UTC().Format("15:04:05Z"))
		}
		names = append(names, name, results.Text("seen", strings.Join(seen, " ")))
	}
	return firstFew(names, 2)
}

// firstFew returns the first entries, of `each` values per entry, and how many more there are.
func firstFew(names []results.Value, each int) []results.Value {
	if more := len(names)/each - mostCounters; more > 0 {
		names = append(names[:mostCounters*each], results.Text("launches", fmt.Sprintf("and %d more", more)))
	}
	return slices.DeleteFunc(names, func(v results.Value) bool { return v.Name == "" })
}

func distinct(names []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
