package html

import "html/template"

// Part is one row of a score: what was played again and again, and when it was due, in
// seconds from the start of each time.
type Part struct {
	Name   string
	Due    *Stretch // From is when; nil: not known
	Played []Stretch
}

// Score draws parts over the time of one playing of them. A row has a bar for each time,
// one below the other, and a line across them where the part was due.
func Score(name string, parts []Part, label func(seconds float64) string) template.HTML {
	high := 0.
	var names []string
	for _, p := range parts {
		names = append(names, p.Name)
		for _, t := range p.Played {
			high = max(high, t.To)
		}
		if p.Due != nil {
			high = max(high, p.Due.From)
		}
	}
	s, along := rows(name, names, 0, high, label)
	for i, p := range parts {
		top := rowsTop + row*float64(i) + 4
		s.series(i)
		deep := (row - 8) / float64(max(len(p.Played), 1))
		for k, t := range p.Played {
			x := along.at(t.From)
			s.open("rect", "x", px(x), "y", px(top+deep*float64(k)), "width", px(max(along.at(t.To)-x, seen)), "height",
				px(max(deep-1, 1)),
				"class", "pt", "fill", "currentColor", "fill-opacity", "0.75")
			s.title(t.Says)
			s.close("rect")
		}
		s.close("g")
		if p.Due != nil {
			x := along.at(p.Due.From)
			s.open("path", "d", "M"+px(x)+" "+px(top-3)+"V"+px(top+row-5), "class", "pt", "fill", "none", "stroke",
				"currentColor", "stroke-width", "1.6", "stroke-dasharray", "4 2")
			s.title(p.Due.Says)
			s.close("path")
		}
	}
	return s.done()
}
