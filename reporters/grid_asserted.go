package reporters

import (
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// constantRank is the drop of an axis or option with one value in all rows: it leaves first.
const constantRank = 100

// rank gives the columns their drops: asserted metrics and axes that vary stay, constants leave first, and where
// metrics are asserted, no other metric stays for good.
func (g *grid) rank(asserted []string) {
	for i := range g.columns {
		c := &g.columns[i]
		switch {
		case c.setting && g.constant(c.name):
			c.drop = constantRank
		case slices.Contains(asserted, c.metric):
			c.drop = 0
		case c.drop > 0 || c.metric != "" && len(asserted) > 0:
			c.drop++
		}
	}
}

// constant reports whether all cases have one value of an axis or option.
func (g *grid) constant(name string) bool {
	first := setting(g.cases[0], name)
	return !slices.ContainsFunc(g.cases, func(c *results.Case) bool { return setting(c, name) != first })
}

// assertedMetrics are the measured metrics of the assertions about some cases, alone or with others, each once.
func assertedMetrics(doc *results.Document, cases []*results.Case) (out []string) {
	add := func(a *results.AssertionVerdict) {
		if a.Subject == nil {
			return
		}
		for _, m := range a.Subject.Metrics() {
			if has(cases, m) && !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	keys := map[string]bool{}
	for _, c := range cases {
		keys[c.Key] = true
		for _, a := range c.Assertions {
			add(a)
		}
	}
	for _, a := range doc.Assertions {
		if slices.ContainsFunc(a.Cases, func(key string) bool { return keys[key] }) {
			add(a)
		}
	}
	return out
}

// declaredOrAsserted leaves out the workload's own metrics if the run declares some and asserts nothing of them.
func declaredOrAsserted(
	shown []results.MetricColumn, asserted []string, table *results.MetricTable,
) []results.MetricColumn {
	k, ok := workload.Lookup(table.Workload)
	if !ok {
		return shown
	}
	own := func(c results.MetricColumn) bool {
		_, is := k.Metric(c.Metric)
		return is && !slices.Contains(asserted, c.Metric)
	}
	if declared := slices.DeleteFunc(slices.Clone(shown), own); len(declared) > 0 {
		return declared
	}
	return shown
}

// giveInterval adds the interval, in tables without declared columns, to the first asserted metric, or
// else to the first that the run itself declares.
func giveInterval(shown []results.MetricColumn, asserted []string, table *results.MetricTable) {
	of := slices.IndexFunc(shown, func(c results.MetricColumn) bool { return slices.Contains(asserted, c.Metric) })
	if k, ok := workload.Lookup(table.Workload); of < 0 && ok {
		of = slices.IndexFunc(shown, func(c results.MetricColumn) bool {
			_, own := k.Metric(c.Metric)
			return !own && definition(table, c.Metric).Better != workload.Neither
		})
	}
	if of < 0 {
		return
	}
	for i := range shown {
		shown[i].Interval = i == of
	}
	shown[of].Drop = 0
}
