package html

import (
	"html/template"
	"slices"
)

// Stretch is something that took from one instant to another, both in seconds.
type Stretch struct {
	From, To float64
	Sign     string // of what went wrong; "": nothing did
	Says     string
}

// Lane is one row of a timeline.
type Lane struct {
	Name      string
	Stretches []Stretch
}

// seen is the least width in which a stretch can still be pointed at.
const seen = 1.5

// Timeline draws lanes over a common time, whose numbers label writes. Stretches too
// near to each other to be told apart are drawn as one, which says so with count; those that went
// wrong are never hidden in one that did not.
func Timeline(name string, lanes []Lane, label func(seconds float64) string, count func(n int) string) template.HTML {
	low, high := 0., 0.
	for i, l := range lanes {
		for k, t := range l.Stretches {
			if i == 0 && k == 0 {
				low, high = t.From, t.To
			}
			low, high = min(low, t.From), max(high, t.To)
		}
	}
	var names []string
	for _, l := range lanes {
		names = append(names, l.Name)
	}
	s, along := rows(name, names, low, high, label)
	for i, l := range lanes {
		y := rowsTop + row*float64(i)
		s.series(i)
		for _, t := range merged(l.Stretches, (along.high-along.low)/(along.to-along.from), count) {
			x := along.at(t.From)
			wide := max(along.at(t.To)-x, seen)
			shape := []string{"x", px(x), "y", px(y + 7), "width", px(wide), "height", px(row - 10), "class", "pt"}
			if t.Sign != "" {
				shape[len(shape)-1] = "pt bad"
				shape = append(shape, "fill", "#b3261e")
			} else {
				shape = append(shape, "fill", "currentColor", "fill-opacity", "0.75")
			}
			s.open("rect", shape...)
			s.title(t.Says)
			s.close("rect")
			if t.Sign != "" {
				s.text(x+wide/2, y+7, "middle", t.Sign, "class", "bad", "fill", "#b3261e", "font-weight", "700")
			}
		}
		s.close("g")
	}
	return s.done()
}

const row, rowsTop = 28., 10. // heights in a drawing of rows

// rows begins a drawing with a row for each name, one below the other over a common time.
func rows(name string, names []string, low, high float64, label func(seconds float64) string) (*svg, span) {
	if high <= low {
		high = low + 1
	}
	const width = 940.
	left := 60.
	for _, n := range names {
		left = max(left, textWidth(shorten(n, 28))+14)
	}
	bottom := rowsTop + row*float64(len(names))
	s := figure(width, bottom+34, "wide", name)
	along := span{low, high, left, width - 20, false}
	for _, v := range roundTicks(low, high, false) {
		x := along.at(v)
		s.line(x, rowsTop, x, bottom, "class", "grid", "stroke-opacity", "0.18")
		s.text(x, bottom+17, "middle", label(v))
	}
	s.line(left, bottom, width-20, bottom, "stroke-opacity", "0.7")
	for i, n := range names {
		s.text(left-8, rowsTop+row*float64(i)+row/2+4, "end", shorten(n, 28))
	}
	return s, along
}

// merged joins stretches between which less than half a unit of the drawing lies.
func merged(all []Stretch, unit float64, count func(int) string) []Stretch {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Stretch) int {
		switch {
		case a.From < b.From:
			return -1
		case a.From > b.From:
			return 1
		}
		return 0
	})
	var out []Stretch
	last := map[bool]int{} // index in out and how many are in it, of what went wrong and what did not
	many := map[bool]int{}
	for _, t := range sorted {
		bad := t.Sign != ""
		if many[bad] > 0 {
			before := &out[last[bad]]
			near := t.From-before.To < unit/2 && (many[bad] > 1 || before.To-before.From < 2*unit) &&
				t.To-t.From < 2*unit
			if near {
				many[bad]++
				before.To = max(before.To, t.To)
				before.Says = count(many[bad])
				continue
			}
		}
		last[bad], many[bad] = len(out), 1
		out = append(out, t)
	}
	// What went wrong is drawn last, on top.
	slices.SortStableFunc(out, func(a, b Stretch) int { return len(a.Sign) - len(b.Sign) })
	return out
}
