package html

import (
	"html/template"
	"math"
	"slices"
)

// Point is one estimate on a chart.
type Point struct {
	X, Y         float64
	CI           *[2]float64 // nil: not known
	Lower, Upper *float64    // ends of the band that it must lie in; nil: open
	Ceiling      *float64    // nil: none
	Launches     []float64   // what the estimate rests on
	Sign         string      // beside the point: its verdict, if that is worth a look
	Says         string      // all of it in words
}

// Series are points that belong together, ascending in X.
type Series struct {
	Name   string
	Points []Point
}

// Panel is one of several charts that share their axes.
type Panel struct {
	Title  string // what tells it from the others; "" where it stands alone
	Series []Series
}

const (
	panelWidth, panelHeight = 460., 290.
	marginLeft, marginRight = 62., 14.
	marginTop, marginBottom = 30., 44.
)

// crowd is how many places on an axis have room for markers that are easy to tell apart.
const crowd = 60

// Panels draws each panel as one chart, all on the same scales so that they can be
// compared. name says for a screen reader what they show.
func Panels(name string, x, y Axis, panels []Panel) []template.HTML {
	var xs, ys []float64
	whiskers := false
	for _, p := range panels {
		for _, s := range p.Series {
			for _, q := range s.Points {
				xs = append(xs, q.X)
				ys = append(ys, q.extent(y.Log)...)
				whiskers = whiskers || q.CI != nil
			}
		}
	}
	if len(xs) == 0 {
		return nil
	}
	c := chart{x: x, y: y}
	c.xs = span{slices.Min(xs), slices.Max(xs), marginLeft + 14, panelWidth - marginRight - 14, x.Log}
	low, high := domain(ys, y.Log)
	c.ys = span{low, high, panelHeight - marginBottom, marginTop, y.Log}
	slices.Sort(xs)
	c.radius = 3.6
	if whiskers {
		c.apart = 6
	}
	if len(slices.Compact(slices.Clone(xs))) > crowd {
		c.radius = 1.8
	}
	for i := 1; i < len(xs); i++ {
		if gap := c.xs.at(xs[i]) - c.xs.at(xs[i-1]); gap > 0 {
			c.apart = min(c.apart, gap/10)
		}
	}
	var out []template.HTML
	for _, p := range panels {
		out = append(out, c.draw(name, p))
	}
	return out
}

// extent are the values that an axis must have room for: whiskers and ceilings only
// as far as they leave the points some of it.
func (p Point) extent(log bool) []float64 {
	all := []float64{p.Y}
	for _, v := range p.Launches {
		if v > 0 || !log {
			all = append(all, v)
		}
	}
	least, most := slices.Min(all), slices.Max(all)
	reach := 1.6
	if log {
		reach = 12
	}
	far := func(v *float64) {
		if v == nil || log && *v <= 0 || math.IsInf(*v, 0) || math.IsNaN(*v) {
			return
		}
		if *v <= most*reach && *v >= least/reach {
			all = append(all, *v)
		}
	}
	far(p.Ceiling)
	far(p.Lower)
	far(p.Upper)
	if p.CI != nil {
		far(&p.CI[0])
		far(&p.CI[1])
	}
	return all
}

type chart struct {
	x, y   Axis
	xs, ys span
	apart  float64 // how far the series stand beside each other, so that whiskers do not cover whiskers
	radius float64 // of markers
}

func (c chart) draw(name string, p Panel) template.HTML {
	if p.Title != "" {
		name += ", " + p.Title
	}
	s := figure(panelWidth, panelHeight, "chart", name)
	if p.Title != "" {
		s.text(marginLeft, 14, "start", shorten(p.Title, 56), "font-weight", "600")
	}
	c.frame(s)
	common := alike(p.Series)
	for i, series := range p.Series {
		if !common {
			s.series(i)
			c.bands(s, series.Points, edged)
			s.close("g")
		} else if i == 0 {
			s.open("g", "class", "target", "color", "#1a7340")
			c.bands(s, series.Points, panelHeight)
			s.close("g")
		}
	}
	for i, series := range p.Series {
		s.series(i)
		beside := (float64(i) - float64(len(p.Series)-1)/2) * c.apart
		c.marks(s, series.Points, beside)
		c.course(s, series.Points, beside)
		for _, q := range series.Points {
			c.point(s, i, q, beside)
		}
		s.close("g")
	}
	return s.done()
}

// frame draws the axes with their grid.
func (c chart) frame(s *svg) {
	left, right, bottom := marginLeft, panelWidth-marginRight, panelHeight-marginBottom
	for _, v := range roundTicks(c.ys.low, c.ys.high, c.y.Log) {
		y := c.ys.at(v)
		s.line(left, y, right, y, "class", "grid", "stroke-opacity", "0.18")
		s.text(left-6, y+4, "end", c.y.Label(v))
	}
	s.line(left, bottom, right, bottom, "stroke-opacity", "0.7")
	ticks := c.x.Ticks
	if ticks == nil {
		for _, v := range roundTicks(c.xs.low, c.xs.high, c.x.Log) {
			ticks = append(ticks, Tick{v, c.x.Label(v)})
		}
	}
	for _, t := range apart(ticks, c.xs) {
		x := c.xs.at(t.At)
		s.line(x, bottom, x, bottom+4, "stroke-opacity", "0.7")
		s.text(x, bottom+17, "middle", shorten(t.Label, 22))
	}
	s.text((left+right)/2, panelHeight-6, "middle", c.x.Name, "class", "dim")
	s.text(6, marginTop-10, "start", c.y.Name, "class", "dim")
}

// edges are halfway to the neighbours of a point, where its band and ceiling end.
func (c chart) edges(points []Point, i int) (left, right float64) {
	x := c.xs.at(points[i].X)
	left, right = x-12, x+12
	if i > 0 {
		left = (x + c.xs.at(points[i-1].X)) / 2
	}
	if i+1 < len(points) {
		right = (x + c.xs.at(points[i+1].X)) / 2
	}
	return left, right
}

// alike says whether all series have the same bands, which are then drawn once.
func alike(all []Series) bool {
	same := func(a, b *float64) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
	at := map[float64]Point{}
	for i, s := range all {
		for _, p := range s.Points {
			q, ok := at[p.X]
			if i > 0 && (!ok || !same(p.Lower, q.Lower) || !same(p.Upper, q.Upper)) {
				return false
			}
			at[p.X] = p
		}
	}
	return true
}

// edged is how deep a band is shaded from its ends where each series has its own: whole
// bands on top of each other would be a grey of which nobody can read anything.
const edged = 9.

// bands shade where each point must lie, so deep from each end.
func (c chart) bands(s *svg, points []Point, deep float64) {
	ends := c.strokes()
	for i, p := range points {
		left, right := c.edges(points, i)
		top, bottom := c.ys.to, c.ys.from
		if p.Upper != nil {
			top = c.ys.clamp(*p.Upper)
		}
		if p.Lower != nil {
			bottom = c.ys.clamp(*p.Lower)
		}
		shade := func(from, to float64) {
			s.rect(left, from, right-left, max(to-from, 1), asBand...)
		}
		if p.Lower != nil {
			shade(max(bottom-deep, top), bottom)
		}
		if p.Upper != nil && (p.Lower == nil || deep < bottom-top) { // otherwise all is shaded already
			shade(top, min(top+deep, bottom))
		}
		ends.mark(p.Lower, left, right)
		ends.mark(p.Upper, left, right)
	}
	s.strokes(ends, asBound...)
}

func (c chart) strokes() *strokes { return &strokes{values: c.ys, upright: true} }

// marks are what there is to see of points besides the points.
func (c chart) marks(s *svg, points []Point, beside float64) {
	ceilings, dots, whiskers := c.strokes(), c.strokes(), c.strokes()
	for i, p := range points {
		left, right := c.edges(points, i)
		ceilings.mark(p.Ceiling, left, right)
		x := c.xs.at(p.X) + beside
		dots.dots(p.Launches, x-5)
		whiskers.whisker(p.CI, x)
	}
	s.strokes(ceilings, asCeiling...)
	s.strokes(dots, asDots...)
	s.strokes(whiskers, asWhisker...)
}

// course joins the points.
func (c chart) course(s *svg, points []Point, beside float64) {
	d := ""
	for i, p := range points {
		d += map[bool]string{true: "M", false: "L"}[i == 0] + px(c.xs.at(p.X)+beside) + " " + px(c.ys.clamp(p.Y))
	}
	if len(points) > 1 {
		s.mark("path", "d", d, "fill", "none", "stroke", "currentColor", "stroke-width", "1.8", "stroke-opacity", "0.8")
	}
}

func (c chart) point(s *svg, i int, p Point, beside float64) {
	x, y := c.xs.at(p.X)+beside, c.ys.clamp(p.Y)
	s.marker(i, x, y, c.radius, p.Says)
	if p.Sign != "" {
		s.sign(x+11, y+5, p.Sign)
	}
}

// sign is that of a verdict, which colour repeats.
func (s *svg) sign(x, y float64, sign string) {
	s.text(x, y, "middle", sign, "class", "bad", "fill", "#b3261e", "font-weight", "700", "font-size", "14")
}
