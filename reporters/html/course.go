package html

import (
	"html/template"
	"strconv"
)

// Stage is a stretch of a course with one level: the points From to To-1.
type Stage struct {
	From, To int
	Value    float64
	CI       *[2]float64 // nil: not known
	Says     string
	Sign     string // of the change that it begins with
}

// Course draws points in their order, evenly spaced, over the levels of its stages: a line
// with its interval for each, and a numbered mark where a new one begins. Of points only
// Y, CI, X (their place, from 0) and Says are used; ticks name places.
func Course(name string, y Axis, ticks []Tick, points []Point, stages []Stage) template.HTML {
	const width, height, left = 940., 330., 78.
	const top, bottom, right = marginTop + 10, height - marginBottom, width - 24
	var values []float64
	last := 1.
	for _, p := range points {
		values = append(values, p.extent(y.Log)...)
		last = max(last, p.X)
	}
	for _, g := range stages {
		values = append(values, Point{Y: g.Value, CI: g.CI}.extent(y.Log)...)
	}
	s := figure(width, height, "wide", name)
	low, high := domain(values, y.Log)
	xs, ys := span{0, last, left + 12, right - 12, false}, span{low, high, bottom, top, y.Log}
	for _, v := range roundTicks(low, high, y.Log) {
		s.line(left, ys.at(v), right, ys.at(v), "class", "grid", "stroke-opacity", "0.18")
		s.text(left-6, ys.at(v)+4, "end", y.Label(v))
	}
	s.line(left, bottom, right, bottom, "stroke-opacity", "0.7")
	for _, t := range apart(ticks, xs) {
		s.line(xs.at(t.At), bottom, xs.at(t.At), bottom+4, "stroke-opacity", "0.7")
		s.text(xs.at(t.At), bottom+17, "middle", t.Label)
	}
	s.text(6, 16, "start", y.Name, "class", "dim")
	s.open("g", "class", "target", "color", "#1a7340")
	for i, g := range stages {
		from, to := xs.clamp(float64(g.From)-0.5), xs.clamp(float64(g.To)-0.5)
		if g.CI != nil {
			above, below := ys.clamp(g.CI[1]), ys.clamp(g.CI[0])
			s.rect(from, above, to-from, max(below-above, 1), asBand...)
		}
		s.open("path", "d", "M"+px(from)+" "+px(ys.clamp(g.Value))+"H"+px(to), "class", "pt", "fill", "none", "stroke",
			"currentColor", "stroke-width", "2")
		s.title(g.Says)
		s.close("path")
		if i > 0 {
			s.line(from, top-8, from, bottom, "stroke-width", "1.2", "stroke-dasharray", "4 3")
			s.text(from, top-12, "middle", strconv.Itoa(i)+" "+g.Sign, "font-weight", "700")
		}
	}
	s.close("g")
	radius := 3.6
	if len(points) > 2*crowd {
		radius = 1.8
	}
	whiskers := &strokes{values: ys, upright: true}
	s.series(0)
	for _, p := range points {
		whiskers.whisker(p.CI, xs.at(p.X))
	}
	s.strokes(whiskers, asWhisker...)
	for _, p := range points {
		s.marker(0, xs.at(p.X), ys.clamp(p.Y), radius, p.Says)
	}
	s.close("g")
	return s.done()
}
