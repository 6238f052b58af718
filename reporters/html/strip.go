package html

import (
	"html/template"
	"math"
)

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
	s.series(0)
	for i, b := range bars {
		middle := marginTop + row*(float64(i)+.5)
		s.bar(along, b, middle, row)
	}
	s.close("g")
	for i, b := range bars {
		s.text(left-8, marginTop+row*(float64(i)+.5)+4, "end", shorten(b.Name, 30))
	}
	return s.done()
}

func (s *svg) bar(along span, b Bar, y, row float64) {
	if b.Lower != nil || b.Upper != nil {
		from, to := along.from, along.to
		if b.Lower != nil {
			from = along.clamp(*b.Lower)
		}
		if b.Upper != nil {
			to = along.clamp(*b.Upper)
		}
		s.open("g", "class", "target", "color", "#1a7340")
		s.rect(from, y-row/2+2, max(to-from, 1), row-4, "class", "band", "fill", "currentColor", "fill-opacity", "0.13")
		for _, end := range []*float64{b.Lower, b.Upper} {
			if end != nil && along.has(*end) {
				s.line(along.at(*end), y-row/2+2, along.at(*end), y+row/2-2, "stroke-opacity", "0.7", "stroke-width", "1.3")
			}
		}
		s.close("g")
	}
	if b.Ceiling != nil && along.has(*b.Ceiling) {
		x := along.at(*b.Ceiling)
		s.line(x, y-row/2+2, x, y+row/2-2, "class", "ceiling", "stroke-width", "1.5", "stroke-dasharray", "5 3")
	}
	for _, v := range b.Launches {
		if along.has(v) {
			s.launch(along.at(v), y+6)
		}
	}
	if b.CI != nil && !math.IsNaN(b.CI[0]) {
		low, high := along.clamp(b.CI[0]), along.clamp(b.CI[1])
		s.line(low, y, high, y, "stroke-width", "1.4")
		for k, end := range []float64{low, high} {
			if along.has(b.CI[k]) {
				s.line(end, y-4, end, y+4, "stroke-width", "1.4")
			}
		}
	}
	x := along.clamp(b.Y)
	s.marker(0, x, y, 3.6, b.Says)
	if b.Sign != "" {
		s.sign(x+11, y+5, b.Sign)
	}
}
