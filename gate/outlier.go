package gate

import (
	"math"
	"strings"

	"weir/assertion"
	"weir/results"
	"weir/workload"
)

// Outliers are marked, shown and never dropped: by Iglewicz and Hoaglin's modified z above
// a limit that depends on the number of launches, so that 5 % of sessions without any have one
// marked (outlierLimits). Below five launches the median absolute deviation says nothing.
const (
	outlierMinPoints = 5
	// rounding is a relative difference that arithmetic alone can make, so that
	// launches that agree to nine digits have no outlier among them.
	rounding = 1e-9

	fragileText = "; the verdict changes without outliers"
)

// outliers tells for each point whether it is one.
func outliers(d *workload.Definitions, subject *assertion.Expr, ps []point) []bool {
	vs := valuesOf(ps)
	if positive(d, subject) {
		vs = logs(vs)
	}
	scale := 1.0
	if len(vs) > 0 {
		scale = max(math.Abs(median(vs)), 1)
	}
	return standingOut(vs, scale)
}

// secondMode says whether the marked launches are too many to be outliers: two or more that are above a
// quarter, or three or more that are above an eighth. They are a mode of the path then, a verdict
// over all launches counts, and leaving them out would judge the other mode alone.
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

// standingOut tells which values are outliers; scale is the size of what they are
// values of, next to which a rounding error is none.
func standingOut(vs []float64, scale float64) []bool {
	out := make([]bool, len(vs))
	if len(vs) < outlierMinPoints {
		return out
	}
	center := median(vs)
	dev := make([]float64, len(vs))
	for i, v := range vs {
		dev[i] = math.Abs(v - center)
	}
	// 1/0.6745 and 1.2533 make the median and the mean of absolute deviations
	// estimate a standard deviation. The mean serves where more than half of the
	// launches gave the same value and the median deviation is zero.
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

// without is the points that are not marked.
func without(ps []point, marked []bool) []point {
	var out []point
	for i, p := range ps {
		if !marked[i] {
			out = append(out, p)
		}
	}
	return out
}

// describe names the marked launches with their values, nodes and times.
func describe(ps []point, marked []bool, unit string) string {
	var names []string
	for i, p := range ps {
		if !marked[i] {
			continue
		}
		s := results.ScaleFor(p.value, unit)
		value, _, _ := s.Estimate(p.value, nil)
		text := results.LaunchName(p.launch.Index) + " (" + s.WithUnit(value)
		if len(p.launch.Nodes) > 0 {
			text += " on " + strings.Join(distinct(p.launch.Nodes), ", ")
		}
		if !p.launch.Started.IsZero() {
			text += " at " + p.launch.Started.UTC().Format("15:04:05Z")
		}
		names = append(names, text+")")
	}
	return few(names)
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
