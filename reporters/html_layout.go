package reporters

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"weir/quantity"
	"weir/reporters/html"
	"weir/results"
)

const (
	mostPanels = 12 // of one figure; the table has all cases
	mostBars   = 40 // of a figure without an axis of numbers
)

// layout says how the cases of a run become charts: which axis runs along them,
// which tell series apart, and which the charts.
type layout struct {
	axis    string // of numbers, the one with the most values; "": there is none
	log     bool
	x       map[*results.Case]float64
	ticks   []html.Tick
	panels  []panel
	omitted int // panels that are not drawn
}

type panel struct {
	title  string
	series []caseSeries
}

// caseSeries are cases with the same values of all axes but the one along, ascending
// in that; none where a panel lacks what others have.
type caseSeries struct {
	name  string
	cases []*results.Case
}

// ofRun stands for the run of a case where those of several are drawn together.
const ofRun = "run"

// on is the value of an axis of a case, or its run.
func on(c *results.Case, axis string) string {
	if v := setting(c, axis); v != "-" || axis != ofRun {
		return v
	}
	return plain(c.Run)
}

// newLayout is that of some cases. also names options that tell them apart besides their axes.
func newLayout(cases []*results.Case, also ...string) *layout {
	l := &layout{x: map[*results.Case]float64{}}
	cases = slices.DeleteFunc(slices.Clone(cases), func(c *results.Case) bool { return c.Metrics.IsZero() })
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
	within := rest // axes whose values are series
	if len(tuples(cases, rest)) > html.MostSeries {
		within = nil
		for _, a := range rest {
			if n := valuesOn(cases, a); n <= html.MostSeries && (within == nil || n > valuesOn(cases, within[0])) {
				within = []string{a}
			}
		}
	}
	between := slices.DeleteFunc(slices.Clone(rest), func(a string) bool { return slices.Contains(within, a) })
	all := tuples(cases, within) // in each panel, so that a series looks the same in all
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

// categories is the layout of cases without an axis of numbers: one beneath the other.
func (l *layout) categories(cases []*results.Case, varying []string) {
	all := tuples(cases, varying)
	if len(varying) == 1 { // the title of the run says of what
		for i := range all {
			all[i].name = on(all[i].cases[0], varying[0])
		}
	}
	if len(all) > mostBars {
		l.omitted, all = len(all)-mostBars, all[:mostBars]
	}
	l.panels = []panel{{series: all}}
}

// along gives each case its place on the axis.
func (l *layout) along(cases []*results.Case) {
	labels := map[float64]string{}
	var values []float64
	sizes := true
	for _, c := range cases {
		text := setting(c, l.axis)
		q, err := quantity.Parse(strings.TrimSpace(text))
		if err != nil {
			continue // allNumbers has looked
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
	// Doublings look alike on a logarithmic axis only; counts like 1, 2, 3, 4 do on a linear one.
	span := values[len(values)-1] / values[0]
	l.log = values[0] > 0 && (sizes && span > 4 || span >= 16)
}

// valuesOn is how many different values cases have on an axis.
func valuesOn(cases []*results.Case, axis string) int {
	seen := map[string]bool{}
	for _, c := range cases {
		seen[on(c, axis)] = true
	}
	return len(seen)
}

// follows says whether each value of one axis has a single value of another, which then
// tells no cases apart: what is known of a pattern, or axes that are swept together.
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

// evenly keeps some of a list, its first and its last among them.
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

// note says what of a run its charts do not show.
func (l *layout) note() string {
	if l.omitted == 0 {
		return ""
	}
	return fmt.Sprintf("%d further combinations are in the table only", l.omitted)
}
