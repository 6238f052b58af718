package reporters

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

const (
	mostTimelines = 4        // of a run; more sequences are in the table only
	mostPlayed    = 5        // bars of a pattern
	mostPlanned   = 16 << 20 // bytes of matrices read for a plan, some seconds
)

// sequenceTimelines draws when the patterns of a run moved, for each of its sequences.
func sequenceTimelines(cases []*results.Case) []html.Figure {
	all := sequencesOf(cases)
	var out []html.Figure
	for _, s := range all[:min(len(all), mostTimelines)] {
		if f, ok := sequenceTimeline(s); ok {
			out = append(out, f)
		}
	}
	if more := len(all) - mostTimelines; more > 0 && len(out) > 0 {
		last := &out[len(out)-1]
		last.Note = sentence(" ", last.Note, fmt.Sprintf("%d further sequences are not drawn.", more))
	}
	return out
}

// sequencesOf groups cases that moved together, differing only in their pattern and its metadata, in the
// order of the sequence.
func sequencesOf(cases []*results.Case) []caseSeries {
	of := func(c *results.Case) *workload.Kind { k, _ := workload.Lookup(c.Workload); return k }
	cases = slices.DeleteFunc(slices.Clone(cases),
		func(c *results.Case) bool { k := of(c); return k == nil || k.Sequence == "" })
	if len(cases) == 0 {
		return nil
	}
	kind := of(cases[0])
	common := slices.DeleteFunc(axes(cases), func(a string) bool { return a == kind.Sequence || fact(cases[0], a) })
	out := tuples(cases, common)
	for _, s := range out {
		slices.SortStableFunc(s.cases, func(a, b *results.Case) int {
			x, _ := option.Number(a.Options[kind.Sequence])
			y, _ := option.Number(b.Options[kind.Sequence])
			return cmp.Compare(x, y)
		})
	}
	return out
}

// fact reports whether an axis is metadata of the case's pattern.
func fact(c *results.Case, axis string) bool {
	text, _ := c.Options["metadata"].(string)
	return strings.Contains(" "+text, " "+axis+"=")
}

// sequenceTimeline draws one sequence.
func sequenceTimeline(s caseSeries) (html.Figure, bool) {
	launch, launches, ok := typical(s.cases)
	if !ok {
		return html.Figure{}, false
	}
	due, why := planned(s.cases)
	chart := html.Chart{Kind: html.Spans, X: html.Axis{Unit: "s"}}
	times := 0
	for row, c := range evenly(s.cases, mostBars) {
		name := "pattern " + setting(c, "pattern")
		chart.Rows = append(chart.Rows, name)
		when, isPlanned := due[c]
		if isPlanned {
			chart.Spans = append(chart.Spans, html.Span{Row: row, From: when, To: when, Group: "planned",
				Says: name + " was planned at " + quantity.FormatTime(when)})
		}
		for _, l := range c.Succeeded() {
			if l.Index != launch {
				continue
			}
			times = max(times, len(l.Played))
			some := evenly(indices(l.Played), mostPlayed)
			for depth, i := range some {
				from, to := l.Played[i][0], l.Played[i][1]
				if !(from >= 0 && to >= from && to < 1e9) { // damaged value
					continue
				}
				says := fmt.Sprintf("%s, iteration %d: from %s, %s", name, i, quantity.FormatTime(from),
					quantity.FormatTime(to-from))
				if isPlanned {
					says += ", " + late(from-when)
				}
				chart.Spans = append(chart.Spans, html.Span{Row: row, From: from, To: to, Group: "played", Depth: depth,
					Of: len(some), Says: says})
			}
		}
	}
	note := fmt.Sprintf("Seconds since the start of an iteration, in %s, which of %d took nearest to the median. A bar is one iteration",
		results.LaunchName(launch), launches)
	if times > mostPlayed {
		note += fmt.Sprintf(" (%d of %d, evenly spread)", mostPlayed, times)
	}
	note += "."
	if why != "" {
		note += " It is not drawn when patterns were planned: " + why + "."
	} else {
		note += " The dashed line is when the pattern was planned: when it would start if nothing but sleeps took time."
	}
	if more := len(s.cases) - len(chart.Rows); more > 0 {
		note += fmt.Sprintf(" %d further patterns are not drawn.", more)
	}
	title := sentence(" ", "Patterns over the time of the sequence", parenthesis(s.name))
	chart.Name = title
	return html.Figure{Title: title, Note: note, Charts: []html.Chart{chart}}, true
}

func late(by float64) string {
	if by < 0 {
		return quantity.FormatTime(-by) + " before it was planned"
	}
	return quantity.FormatTime(by) + " after it was planned"
}

func indices[T any](list []T) []int {
	out := make([]int, len(list))
	for i := range out {
		out[i] = i
	}
	return out
}

// typical is the index of the launch with the median duration of the sequence, and the number of launches.
// Its duration is the mean end of the last pattern.
func typical(cases []*results.Case) (index, launches int, ok bool) {
	took := map[int]float64{}
	for _, c := range cases {
		for _, l := range c.Succeeded() {
			sum := 0.
			for _, p := range l.Played {
				sum += p[1]
			}
			if n := len(l.Played); n > 0 {
				took[l.Index] = max(took[l.Index], sum/float64(n))
			}
		}
	}
	var order []int
	var sorted []float64
	for i, v := range took {
		order, sorted = append(order, i), append(sorted, v)
	}
	if len(order) == 0 {
		return 0, 0, false
	}
	slices.Sort(order)
	slices.Sort(sorted)
	middle := (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	index = slices.MinFunc(order, func(a, b int) int {
		return cmp.Compare(math.Abs(took[a]-middle), math.Abs(took[b]-middle))
	})
	return index, len(order), true
}

// planned returns the planned start of each pattern of a sequence, in seconds from the start of an
// iteration, or why it is unknown.
func planned(cases []*results.Case) (due map[*results.Case]float64, why string) {
	all := make([]option.Values, len(cases))
	size := 0
	for i, c := range cases {
		text, _ := c.Options["matrix"].(string)
		if size += len(text); size > mostPlanned {
			return nil, "their matrices are too large"
		}
		if at, ok := option.Number(c.Options["pattern"]); !ok || at != float64(i) {
			return nil, fmt.Sprintf("pattern %d is not in the document, and it may decide about others", i)
		}
		kind, _ := workload.Lookup(c.Workload)
		values, err := kind.Normalize(c.Options)
		if err != nil {
			return nil, plain(err.Error())
		}
		all[i] = values
	}
	b, _ := workload.As[workload.Scheduler](cases[0].Workload)
	times, err := b.Timetable(all)
	if err != nil {
		return nil, plain(err.Error())
	}
	due = make(map[*results.Case]float64, len(cases))
	for i, c := range cases {
		due[c] = times[i].Seconds()
	}
	return due, ""
}
