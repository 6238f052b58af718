package html

import "html/template"

// Bar is one row of a strip.
type Bar struct {
	Name  string
	Point // X is not used
}

// Strip draws estimates that have no order beneath each other, with their names.
func Strip(name string, y Axis, bars []Bar) template.HTML {
	var values []float64
	longest := 0.
	for _, b := range bars {
		values = append(values, b.extent(y.Log)...)
		longest = max(longest, textWidth(shorten(b.Name, 30)))
	}
	const row = 26.
	left := min(max(longest+12, 60), 230)
	height := marginTop + row*float64(len(bars)) + marginBottom - 12
	s := figure(panelWidth, height, "chart", name)
	low, high := domain(values, y.Log)
	along := span{low, high, left, panelWidth - marginRight - 10, y.Log}
	bottom := marginTop + row*float64(len(bars))
	var ticks []Tick
	for _, v := range roundTicks(low, high, y.Log) {
		ticks = append(ticks, Tick{v, y.Label(v)})
	}
	for _, t := range apart(ticks, along) {
		x := along.at(t.At)
		s.line(x, marginTop, x, bottom, "class", "grid", "stroke-opacity", "0.18")
		s.text(x, bottom+16, "middle", t.Label)
	}
	s.line(left, bottom, panelWidth-marginRight, bottom, "stroke-opacity", "0.7")
	s.text(left, 14, "start", y.Name, "class", "dim")
	stripe := func(i int) (top, middle, bottom float64) {
		top = marginTop + row*float64(i) + 2
		return top, top + row/2 - 2, top + row - 4
	}
	ceilings, dots, whiskers, ends := &strokes{values: along}, &strokes{values: along}, &strokes{values: along},
		&strokes{values: along}
	s.open("g", "class", "target", "color", "#1a7340")
	for i, b := range bars {
		top, middle, bottom := stripe(i)
		from, to := along.from, along.to
		if b.Lower != nil {
			from = along.clamp(*b.Lower)
		}
		if b.Upper != nil {
			to = along.clamp(*b.Upper)
		}
		if b.Lower != nil || b.Upper != nil {
			s.rect(from, top, max(to-from, 1), bottom-top, asBand...)
		}
		ends.mark(b.Lower, top, bottom)
		ends.mark(b.Upper, top, bottom)
		ceilings.mark(b.Ceiling, top, bottom)
		dots.dots(b.Launches, middle+6)
		whiskers.whisker(b.CI, middle)
	}
	s.strokes(ends, asBound...)
	s.close("g")
	s.series(0)
	s.strokes(ceilings, asCeiling...)
	s.strokes(dots, asDots...)
	s.strokes(whiskers, asWhisker...)
	for i, b := range bars {
		_, middle, _ := stripe(i)
		s.marker(0, along.clamp(b.Y), middle, 3.6, b.Says)
		if b.Sign != "" {
			s.sign(along.clamp(b.Y)+11, middle+5, b.Sign)
		}
	}
	s.close("g")
	for i, b := range bars {
		_, middle, _ := stripe(i)
		s.text(left-8, middle+4, "end", shorten(b.Name, 30))
	}
	return s.done()
}
