package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// together are sections in which runs of one workload with the same axes share charts, each run as a
// series.
func (d *draft) together(doc *results.Document, all []grid) []html.Run {
	type likeness struct{ workload, axes string }
	var alike ordered.Groups[likeness, grid]
	for _, g := range all {
		if len(g.cases) == 0 || sequencesOf(g.cases) != nil {
			continue // patterns of different sequences are unrelated
		}
		alike.Add(likeness{g.cases[0].Workload, strings.Join(axes(g.cases), ",")}, g)
	}
	var out []html.Run
	for _, grids := range alike.All() {
		var cases []*results.Case
		var names []string
		for _, g := range grids {
			cases = append(cases, g.cases...)
			names = append(names, plain(g.run))
		}
		if len(names) < 2 || len(names) > html.MostSeries {
			continue
		}
		r := html.Run{ID: fmt.Sprintf("together-%d", len(out)+1)}
		r.Name = clip(strings.Join(names, ", "), " …") + " together"
		l := newLayout(cases, ofRun)
		for _, metric := range d.charted(doc, cases) {
			if !slices.ContainsFunc(grids, func(g grid) bool { return !has(g.cases, metric) }) {
				if f, ok := d.figure(doc, l, metric); ok {
					r.Figures = append(r.Figures, f)
				}
			}
		}
		if len(r.Figures) > 0 {
			out = append(out, r)
		}
	}
	return out
}
