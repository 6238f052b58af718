package reporters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// grid is the table of a run with one row per case: axes, sizes, measurements, verdict. Terminal and
// Markdown reports draw it.
type grid struct {
	run     string
	stage   string // heading above it; "": none
	heads   bool   // first of its stage
	columns []column
	table   *results.MetricTable
	cases   []*results.Case
}

// column is one column of a grid. The terminal drops columns that do not fit, highest drop first; 0 is
// never dropped.
type column struct {
	name  string // in --columns
	head  string // two lines, if that is narrower
	right bool
	drop  int
	cell  func(*results.Case) string

	metric  string // "": no metric
	setting bool   // of an axis or option
}

// optionColumns are options with columns of their own, whether or not they are axes.
var optionColumns = []namedColumn{{"block_size", "block size", 0}, {"batch", "batch", 3}}

// namedColumn is a column for an option.
type namedColumn struct {
	name, head string
	drop       int
}

func named(columns []namedColumn, name string) bool {
	return slices.ContainsFunc(columns, func(c namedColumn) bool { return c.name == name })
}

// grids returns one grid per run, in document order: runs without a stage first, then each stage by first
// mention.
func grids(doc *results.Document) []grid {
	metrics := workload.DefinitionsOf(doc)
	partly := mixesSimulated(doc)
	runs := byRun(doc)
	stages := []string{""}
	for _, cases := range runs {
		stages = ordered.Append(stages, cases[0].Stage)
	}
	var out []grid
	for _, stage := range stages {
		heads := stage != ""
		for _, cases := range runs {
			run := cases[0].Run
			if cases[0].Stage != stage {
				continue
			}
			g := newGrid(run, cases, metrics.Of(cases[0].Workload, run), assertedMetrics(doc, cases))
			g.stage, g.heads = stage, heads
			if partly {
				g.last().cell = func(c *results.Case) string { return sentence(" ", caseLabel(c), simulatedMark(c)) }
			}
			out = append(out, g)
			heads = false
		}
	}
	return out
}

func newGrid(run string, cases []*results.Case, table *results.MetricTable, asserted []string) grid {
	g := grid{run: run, cases: cases, table: table}
	for _, axis := range axes(cases) {
		if !named(optionColumns, axis) {
			drop := 0
			if fact(cases[0], axis) {
				if valuesOn(cases, axis) == 1 {
					continue // equal for all patterns
				}
				drop = 3 // the pattern distinguishes the rows
			}
			g.setting(axis, drop)
		}
	}
	for _, o := range optionColumns {
		if slices.ContainsFunc(cases, func(c *results.Case) bool { return setting(c, o.name) != "-" }) {
			if slices.Contains(axes(cases), o.name) {
				o.drop = 0 // an axis distinguishes the rows
			}
			g.add(o.name, o.head, true, o.drop, func(c *results.Case) string { return setting(c, o.name) })
			g.last().setting = true
		}
	}
	if slices.ContainsFunc(cases, func(c *results.Case) bool { return workingSet(c) != nil }) {
		g.add(workingSetColumn, "working set", false, 8, workingSetCell)
	}
	shown := slices.DeleteFunc(table.Shown(), func(c results.MetricColumn) bool { return !has(cases, c.Metric) })
	if table.Columns == nil {
		shown = declaredOrAsserted(shown, asserted, table)
		giveInterval(shown, asserted, table)
	}
	for _, c := range shown {
		if c.Percent {
			continue
		}
		g.metric(definition(table, c.Metric), head(c), c.Drop, cases)
		if c.Interval {
			g.interval(c.Metric)
		}
	}
	for _, name := range asserted {
		if !slices.ContainsFunc(shown, func(c results.MetricColumn) bool { return c.Metric == name }) {
			g.metric(definition(table, name), plain(name)+"\n", 0, cases)
		}
	}
	for _, c := range shown {
		if c.Percent {
			g.share(c)
		}
	}
	g.add(launchesColumn, "n", true, 6, launchCount)
	g.add(verdictColumn, "verdict", false, 0, caseLabel)
	g.rank(asserted)
	return g
}

func (g *grid) add(name, head string, right bool, drop int, cell func(*results.Case) string) {
	g.columns = append(g.columns, column{name: name, head: head, right: right, drop: drop, cell: cell})
}

// setting adds a column for an axis or option.
func (g *grid) setting(name string, drop int) {
	g.add(name, plain(name), allNumbers(g.cases, name), drop, func(c *results.Case) string { return setting(c, name) })
	g.last().setting = true
}

func (g *grid) last() *column { return &g.columns[len(g.columns)-1] }

// interval adds a column for the confidence interval of a metric.
func (g *grid) interval(metric string) {
	s := scaleOfColumn(g.cases, metric)
	g.add(metric+intervalSuffix, results.ConfidenceText+"\nCI", true, 7,
		func(of *results.Case) string { return interval(of, metric, s) })
}

// share adds a column for a metric in percent.
func (g *grid) share(c results.MetricColumn) {
	g.add(c.Metric, head(c), true, c.Drop, func(of *results.Case) string {
		share := number(of, c.Metric, results.Percent)
		if beyondCeiling(of, c.Metric) {
			share += beyondMark
		}
		return share
	})
	g.last().metric = c.Metric
}

// metric adds a column for a metric with its unit in the head.
func (g *grid) metric(m results.Metric, head string, drop int, cases []*results.Case) {
	s := scaleOfColumn(cases, m.Name)
	if s.Unit == "" {
		s = columnScale(m.Unit) // only discarded launches have it
	}
	head += ofSamples(cases, m) + " " + s.Unit
	g.add(m.Name, strings.TrimSpace(strings.ReplaceAll(head, "\n ", "\n")), true, drop,
		func(c *results.Case) string {
			if v, ok := discardedMedian(c, m.Name); ok && quantity.Unending(v, m.Unit) {
				return "(" + quantity.UnboundedText + ")"
			} else if ok {
				return "(" + quantity.Digits(v*s.Factor, 3) + ")"
			}
			cell := sampled(c, m, s)
			if tooShort(c, m.Name) {
				cell += shortMark
			}
			return cell
		})
	g.last().metric = m.Name
}

// definition finds a metric in a table; an unknown one has its name only.
func definition(t *results.MetricTable, name string) results.Metric {
	if m, ok := workload.FindMetric(t.Definitions, name); ok {
		return m
	}
	return results.Metric{Name: name}
}

// head joins the lines of a column's head, which may come from a document.
func head(c results.MetricColumn) string {
	first, second, two := strings.Cut(c.Head, "\n")
	if !two {
		return plain(first)
	}
	return plain(first) + "\n" + plain(second)
}

// axes are those of all cases in the author's order.
func axes(cases []*results.Case) []string {
	var out []string
	for _, c := range cases {
		for _, a := range c.AxisOrder {
			out = ordered.Append(out, a)
		}
	}
	return out
}

func has(cases []*results.Case, metric string) bool {
	return slices.ContainsFunc(cases, func(c *results.Case) bool {
		_, ok := c.Metrics.Get(metric)
		_, discarded := discardedMedian(c, metric)
		return ok || discarded
	})
}

// setting is the value of an axis or option of a case.
func setting(c *results.Case, name string) string {
	if v, ok := c.Axes[name]; ok {
		return plain(option.Text(v))
	}
	if v, ok := c.ResolvedOptions()[name]; ok {
		return plain(option.Text(v))
	}
	return "-"
}

// allNumbers reports whether an axis has only numbers and quantities.
func allNumbers(cases []*results.Case, axis string) bool {
	return !slices.ContainsFunc(cases, func(c *results.Case) bool {
		v, ok := c.Axes[axis]
		if !ok {
			return false
		}
		_, err := quantity.Parse(strings.TrimSpace(option.Text(v)))
		return err != nil
	})
}

// launchCount is the number of launches behind a case's estimates: "0 of 5" if none of its launches counts.
func launchCount(c *results.Case) string {
	switch n := len(c.Succeeded()); {
	case n > 0:
		return strconv.Itoa(n)
	case len(c.Launches) > 0:
		return fmt.Sprintf("0 of %d", len(c.Launches))
	}
	return "-"
}
