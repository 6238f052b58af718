package html

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// svg writes one drawing. Whatever looks at all stands in presentation attributes,
// so that a policy that forbids style sheets leaves the drawing as it is; classes
// are for the sheet, which has colours for dark pages too. All values and texts
// are escaped here and nowhere else.
type svg struct{ out strings.Builder }

// figure begins a drawing of so many units with its name for those who cannot see it.
func figure(width, height float64, class, name string) *svg {
	s := &svg{}
	s.open("svg", "xmlns", "http://www.w3.org/2000/svg", "viewBox", "0 0 "+px(width)+" "+px(height), "width", px(width),
		"height", px(height),
		"class", class, "role", "img", "aria-label", name, "font-family", "system-ui, sans-serif", "font-size", "12",
		"fill", "currentColor")
	return s
}

func (s *svg) done() template.HTML {
	s.close("svg")
	return template.HTML(s.out.String())
}

func (s *svg) open(name string, attributes ...string) { s.tag(name, ">", attributes) }
func (s *svg) mark(name string, attributes ...string) { s.tag(name, "/>", attributes) }
func (s *svg) close(name string)                      { s.out.WriteString("</" + name + ">") }

func (s *svg) tag(name, end string, attributes []string) {
	s.out.WriteString("<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		s.out.WriteString(" " + attributes[i] + `="` + template.HTMLEscapeString(attributes[i+1]) + `"`)
	}
	s.out.WriteString(end)
}

// text writes at a place; anchor is start, middle or end.
func (s *svg) text(x, y float64, anchor, text string, attributes ...string) {
	s.open("text", append([]string{"x", px(x), "y", px(y), "text-anchor", anchor}, attributes...)...)
	s.out.WriteString(template.HTMLEscapeString(text))
	s.close("text")
}

// title is what a pointer or the keyboard reads out of the element around it.
func (s *svg) title(text string) {
	s.out.WriteString("<title>" + template.HTMLEscapeString(text) + "</title>")
}

func (s *svg) line(x1, y1, x2, y2 float64, attributes ...string) {
	s.mark("line", append([]string{"x1", px(x1), "y1", px(y1), "x2", px(x2), "y2", px(y2), "stroke", "currentColor"},
		attributes...)...)
}

func (s *svg) rect(x, y, width, height float64, attributes ...string) {
	s.mark("rect", append([]string{"x", px(x), "y", px(y), "width", px(width), "height", px(height)}, attributes...)...)
}

// px is a length with as many digits as a screen has.
func px(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// hues are the colours of series on white, each at least 4.5 to 1; the style sheet
// has others on black.
var hues = []string{"#0b5fa5", "#a8430a", "#1a7340", "#7b3fa0", "#7a5c00", "#b0174f"}

// MostSeries is how many series one drawing can tell apart.
const MostSeries = 6

// series begins a group in the colour of the i-th series: currentColor within.
func (s *svg) series(i int) {
	i %= len(hues)
	s.open("g", "class", fmt.Sprintf("c%d", i), "color", hues[i])
}

// marker draws the shape of the i-th series, so that colour is not all that tells
// series apart, with a radius of r.
func (s *svg) marker(i int, x, y, r float64, says string) {
	at := func(points ...float64) string {
		var b strings.Builder
		for k := 0; k < len(points); k += 2 {
			b.WriteString(map[bool]string{true: "M", false: "L"}[k == 0] + px(x+points[k]*r) + " " +
				px(y+points[k+1]*r))
		}
		return b.String() + "Z"
	}
	d := ""
	switch i % MostSeries {
	case 1:
		d = at(-1, -1, 1, -1, 1, 1, -1, 1)
	case 2:
		d = at(0, -1.3, 1.2, 1, -1.2, 1)
	case 3:
		d = at(0, -1.4, 1.4, 0, 0, 1.4, -1.4, 0)
	case 4:
		d = at(0, 1.3, 1.2, -1, -1.2, -1)
	case 5:
		d = at(-1.2, -.5, -.5, -.5, -.5, -1.2, .5, -1.2, .5, -.5, 1.2, -.5, 1.2, .5, .5, .5, .5, 1.2, -.5, 1.2, -.5, .5,
			-1.2, .5)
	}
	name, shape := "path", []string{"d", d}
	if d == "" {
		name, shape = "circle", []string{"cx", px(x), "cy", px(y), "r", px(r)}
	}
	shape = append(shape, "fill", "currentColor")
	if says == "" {
		s.mark(name, shape...)
		return
	}
	s.open(name, append(shape, "class", "pt")...)
	s.title(says)
	s.close(name)
}
