package reporters

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// openCases is the longest table of cases that is open initially.
const openCases = 3000

// mostRows is the longest table that is open initially.
const mostRows = 500

// run is the section of a run.
func (d *draft) run(doc *results.Document, id string, g grid) html.Run {
	r := html.Run{ID: id, Name: plain(clip(g.run, " …")), Stage: plain(clip(g.stage, " …")), Heads: g.heads}
	r.Setup = setup(g.cases)
	r.Brief = setupBrief(r.Setup)
	l := newLayout(g.cases)
	for _, metric := range d.charted(doc, g.cases) {
		if f, ok := d.figure(doc, l, metric); ok {
			r.Figures = append(r.Figures, f)
		}
	}
	drawnGains, gains := d.gains(doc, l, g.cases)
	r.Figures, r.Gains = append(r.Figures, drawnGains...), gains
	r.Figures = append(r.Figures, sequenceTimelines(g.cases)...)
	r.Figures = append(r.Figures, groupTimelines(g.cases)...)
	r.Figures = append(r.Figures, d.waits(g.cases)...)
	r.Figures = append(r.Figures, d.declared(l, g.cases)...)
	drawn, sampled := d.distributions(g.cases)
	r.Figures = append(r.Figures, drawn...)
	r.Table = d.caseTable(g)
	families := d.quantiles(g.cases)
	for _, f := range families {
		if !sampled {
			r.Figures = append(r.Figures, f.figures(l)...)
		}
	}
	r.QuantileTable = d.quantileTable(g, families)
	return r
}

func (d *draft) caseTable(g grid) html.Table {
	t := html.Table{
		Caption: fmt.Sprintf("%s of run %s", plural(len(g.cases), "case"), plain(g.run)),
		Folded:  len(g.cases) > openCases,
	}
	for _, c := range g.columns {
		column := html.Column{Head: c.head, Right: c.right, Verdict: c.name == verdictColumn}
		if c.metric != "" && len(g.cases) > 0 {
			column.Metric = d.link(g.cases[0].Workload, g.run, c.metric)
		}
		t.Columns = append(t.Columns, column)
	}
	t.Caption += d.mixedMeans(metricsOf(g.columns))
	for _, c := range g.cases {
		row := html.Row{
			ID: d.anchor("case", plain(c.Key)), Class: rowClass(standing(c)), Cells: make([]string, len(g.columns)),
		}
		for i, column := range g.columns {
			row.Cells[i] = column.cell(c)
		}
		row.Marks = d.missed(g.columns, c)
		t.Rows = append(t.Rows, row)
	}
	return t
}

// missed marks the metrics of a case that did not hold what was asserted of them; nil: none.
func (d *draft) missed(columns []column, c *results.Case) map[int]string {
	var out map[int]string
	for _, a := range c.Assertions {
		class := rowClass(a.Standing())
		if class != "bad" && class != "doubt" || a.Standing() == string(results.XPass) {
			continue
		}
		for _, metric := range d.judged(a) {
			i := slices.IndexFunc(columns, func(c column) bool { return c.metric == metric })
			if i < 0 || out[i] == "bad" {
				continue
			}
			if out == nil {
				out = map[int]string{}
			}
			out[i] = class
		}
	}
	return out
}

func metricsOf(columns []column) []string {
	var all []string
	for _, c := range columns {
		if c.metric != "" {
			all = append(all, c.metric)
		}
	}
	return all
}

// mixedMeans warns if columns of times use two kinds of mean, so that parts need not add up.
func (d *draft) mixedMeans(metrics []string) string {
	geometric, arithmetic := false, false
	for _, m := range metrics {
		if d.metrics.MayBeZero("", m) {
			arithmetic = true
		} else {
			geometric = true
		}
	}
	if !geometric || !arithmetic {
		return ""
	}
	return "; over launches values are geometric means, of metrics that may be 0 arithmetic ones: parts need not add up"
}
