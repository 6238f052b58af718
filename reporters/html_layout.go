package reporters

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

const (
	mostPanels = 24 // of one figure; the table has all cases
	mostBars   = 40 // of a figure without a numeric axis
)

// layout is how the cases of a run become charts: the axis along them, the axes of series, and the axes of
// panels.
type layout struct {
	axis    string // the numeric axis with most values; "": there is none
	log     bool
	x       map[*results.Case]float64
	ticks   []html.Tick
	panels  []panel
	omitted int // panels that are not drawn
	// unmeasured are cases that have launches, none of them usable.
	unmeasured int
}

type panel struct {
	title  string
	series []caseSeries
}

// caseSeries are cases with equal values of all other axes, ascending along the axis; empty if a panel
// lacks the series.
type caseSeries struct {
	name  string
	cases []*results.Case
}

// ofRun is a pseudo-axis for the run, if several are drawn together.
const ofRun = "run"

// on is the value of an axis of a case, or its run.
func on(c *results.Case, axis string) string {
	if v := setting(c, axis); v != "-" || axis != ofRun {
		return v
	}
	return plain(c.Run)
}

// newLayout lays out cases. also names options that distinguish them besides their axes.
func newLayout(cases []*results.Case, also ...string) *layout {
	l := &layout{x: map[*results.Case]float64{}}
	cases = slices.DeleteFunc(slices.Clone(cases), func(c *results.Case) bool {
		if c.Metrics.IsZero() && len(c.Launches) > 0 {
			l.unmeasured++
		}
		return c.Metrics.IsZero()
	})
	var varying []string
	most := 1
	for _, a := range append(slices.Clone(also), axes(cases)...) {
		n := valuesOn(cases, a)
		if n < 2 {
			continue
		}
		varying = append(varying, a)
		if n > most && !slices.Contains(also, a) && allNumbers(cases, a) &&
			!slices.ContainsFunc(cases, func(c *results.Case) bool { return on(c, a) == "-" }) {
			l.axis, most = a, n
		}
	}
	if l.axis == "" {
		l.categories(cases, varying)
		return l
	}
	l.along(cases)
	rest := slices.DeleteFunc(slices.Clone(varying), func(a string) bool { return follows(cases, a, l.axis) })
	within := rest // axes of series
	if len(tuples(cases, rest)) > html.MostSeries {
		within = nil
		for _, a := range rest {
			if n := valuesOn(cases, a); n <= html.MostSeries && (within == nil || n > valuesOn(cases, within[0])) {
				within = []string{a}
			}
		}
	}
	between := slices.DeleteFunc(slices.Clone(rest), func(a string) bool { return slices.Contains(within, a) })
	all := tuples(cases, within) // the same order in all panels
	for _, group := range tuples(cases, between) {
		of := map[string][]*results.Case{}
		for _, s := range tuples(group.cases, within) {
			slices.SortStableFunc(s.cases, func(a, b *results.Case) int { return cmp.Compare(l.x[a], l.x[b]) })
			of[s.name] = s.cases
		}
		p := panel{title: group.name}
		for _, s := range all {
			p.series = append(p.series, caseSeries{s.name, of[s.name]})
		}
		l.panels = append(l.panels, p)
	}
	if len(l.panels) > mostPanels {
		l.omitted, l.panels = len(l.panels)-mostPanels, l.panels[:mostPanels]
	}
	return l
}

// categories lays out cases without a numeric axis in rows.
func (l *layout) categories(cases []*results.Case, varying []string) {
	all := tuples(cases, varying)
	if len(varying) == 1 { // the run's title names it
		for i := range all {
			all[i].name = on(all[i].cases[0], varying[0])
		}
	}
	if len(all) > mostBars {
		l.omitted, all = len(all)-mostBars, all[:mostBars]
	}
	l.panels = []panel{{series: all}}
}

// along sets each case's position on the axis.
func (l *layout) along(cases []*results.Case) {
	labels := map[float64]string{}
	var values []float64
	sizes := true
	for _, c := range cases {
		text := setting(c, l.axis)
		q, err := quantity.Parse(strings.TrimSpace(text))
		if err != nil {
			continue // checked by allNumbers
		}
		sizes = sizes && q.Dim.Bytes != 0
		l.x[c] = q.Value
		if _, ok := labels[q.Value]; !ok {
			labels[q.Value] = text
			values = append(values, q.Value)
		}
	}
	slices.Sort(values)
	for _, v := range values {
		l.ticks = append(l.ticks, html.Tick{At: v, Label: labels[v]})
	}
	// Doublings are evenly spaced on a logarithmic axis only; counts like 1, 2, 3, 4 on a linear one.
	span := values[len(values)-1] / values[0]
	l.log = values[0] > 0 && (sizes && span > 4 || span >= 16)
}

// valuesOn is the number of distinct values of an axis.
func valuesOn(cases []*results.Case, axis string) int {
	seen := map[string]bool{}
	for _, c := range cases {
		seen[on(c, axis)] = true
	}
	return len(seen)
}

// follows reports whether each value of one axis determines the value of another, which then distinguishes
// no cases: metadata of a pattern, or axes swept together.
func follows(cases []*results.Case, axis, of string) bool {
	value := map[string]string{}
	for _, c := range cases {
		at := on(c, of)
		if v, ok := value[at]; ok && v != on(c, axis) {
			return false
		}
		value[at] = on(c, axis)
	}
	return true
}

// tuples groups cases by their values of some axes, in document order.
func tuples(cases []*results.Case, axes []string) []caseSeries {
	index := map[string]int{}
	var out []caseSeries
	for _, c := range cases {
		var parts []string
		for _, a := range axes {
			parts = append(parts, plain(a)+"="+on(c, a))
		}
		name := strings.Join(parts, ", ")
		i, ok := index[name]
		if !ok {
			i = len(out)
			index[name] = i
			out = append(out, caseSeries{name: name})
		}
		out[i].cases = append(out[i].cases, c)
	}
	return out
}

// evenly picks evenly spaced elements, including the first and the last.
func evenly[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	var out []T
	for i := range most {
		out = append(out, all[i*(len(all)-1)/(most-1)])
	}
	return out
}

// note says what of a run its charts omit.
func (l *layout) note() string {
	var all []string
	if l.unmeasured > 0 {
		all = append(all, "not drawn, without a usable launch: "+plural(l.unmeasured, "case"))
	}
	if l.omitted > 0 {
		all = append(all, fmt.Sprintf("%d further combinations are in the table only", l.omitted))
	}
	return strings.Join(all, "; ")
}
