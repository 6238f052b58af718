package reporters

import (
	"slices"
	"strconv"
	"strings"

	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// grid is a run as a table with one row per case: its axes, what was moved, what
// was measured, what the gate says. The terminal and the Markdown report draw it.
type grid struct {
	run     string
	columns []column
	cases   []*results.Case
}

// column is one column of a grid. The terminal drops columns that do not fit,
// highest drop first; those of drop 0 always stay.
type column struct {
	head  string // in two lines, where that keeps the column narrow
	right bool
	drop  int
	cell  func(*results.Case) string

	metric string // what it shows; "": no metric
}

// options that have columns of their own, whether they are axes or not.
var optionColumns = []namedColumn{{"block_size", "block size", 0}, {"batch", "batch", 3}}

// metrics that have columns wherever a workload measures them.
var metricColumns = []namedColumn{
	{"latency.avg", "latency\navg", 4}, {"latency.p50", "latency\np50", 5}, {"latency.p99", "latency\np99", 2},
}

// metrics of what is moved that have columns before the measured ones.
var amountColumns = []namedColumn{{"bytes", "moves\n", 4}, {"senders", "senders", 8}}

// slowdown is what a pattern of a sequence is looked at for, beside these: the columns
// of sequential-ct-perftest.
const slowdown = "slowdown"

var sequenceColumns = []namedColumn{{"latency", "latency\n", 0}, {"isolated_latency", "isolated\nlatency", 0}}

// namedColumn is a column for an option or a metric.
type namedColumn struct {
	name, head string
	drop       int
}

// perSender is the metric of what each of several senders has.
const perSender = "bandwidth.per_sender"

func named(columns []namedColumn, name string) bool {
	return slices.ContainsFunc(columns, func(c namedColumn) bool { return c.name == name })
}

// grids makes one grid per run, in document order.
func grids(doc *results.Document) []grid {
	var order []string
	byRun := map[string][]*results.Case{}
	for _, c := range doc.Cases {
		if _, ok := byRun[c.Run]; !ok {
			order = append(order, c.Run)
		}
		byRun[c.Run] = append(byRun[c.Run], c)
	}
	var out []grid
	for _, run := range order {
		out = append(out, newGrid(run, byRun[run]))
	}
	return out
}

func newGrid(run string, cases []*results.Case) grid {
	g := grid{run: run, cases: cases}
	for _, axis := range axes(cases) {
		if !named(optionColumns, axis) {
			drop := 0
			if fact(cases[0], axis) {
				if valuesOn(cases, axis) == 1 {
					continue // what all patterns have tells nothing of any
				}
				drop = 3 // the pattern tells the rows apart
			}
			g.add(plain(axis), allNumbers(cases, axis), drop, func(c *results.Case) string { return setting(c, axis) })
		}
	}
	for _, o := range optionColumns {
		if slices.ContainsFunc(cases, func(c *results.Case) bool { return setting(c, o.name) != "-" }) {
			if slices.Contains(axes(cases), o.name) {
				o.drop = 0 // an axis tells the rows apart
			}
			g.add(o.head, true, o.drop, func(c *results.Case) string { return setting(c, o.name) })
		}
	}
	if slices.ContainsFunc(cases, func(c *results.Case) bool { return workingSet(c) != nil }) {
		g.add("working set", false, 8, workingSetCell)
	}
	for _, m := range amountColumns {
		if has(cases, m.name) {
			g.metric(m.name, m.head, m.drop, cases)
		}
	}
	for _, m := range sequenceColumns {
		if has(cases, slowdown) {
			g.metric(m.name, m.head, m.drop, cases)
		}
	}
	main := "bandwidth"
	if has(cases, slowdown) {
		main = slowdown
	}
	if has(cases, main) {
		s := columnScale(unitOf(cases, main))
		g.metric(main, main+"\n", 0, cases)
		g.add(results.ConfidenceText+"\nCI", true, 7, func(c *results.Case) string { return interval(c, main, s) })
	}
	if main != "bandwidth" && has(cases, "bandwidth") {
		g.metric("bandwidth", "bandwidth\n", 3, cases)
	}
	if has(cases, perSender) && main == "bandwidth" {
		g.metric(perSender, "per sender\n", 9, cases)
	}
	for _, m := range metricColumns {
		if has(cases, m.name) && main == "bandwidth" {
			g.metric(m.name, m.head, m.drop, cases)
		}
	}
	for _, name := range asserted(cases) {
		g.metric(name, plain(name)+"\n", 0, cases)
	}
	if has(cases, "ceiling") {
		g.add("% of ceiling", true, 1, func(c *results.Case) string { return number(c, "ceiling", results.Percent) })
		g.columns[len(g.columns)-1].metric = "ceiling"
	}
	g.add("n", true, 6, launchCount)
	g.add("verdict", false, 0, func(c *results.Case) string { return sentence(" ", labelled(standing(c)), simulatedMark(c)) })
	return g
}

func (g *grid) add(head string, right bool, drop int, cell func(*results.Case) string) {
	g.columns = append(g.columns, column{head: head, right: right, drop: drop, cell: cell})
}

// metric adds a column of a metric with its unit in the head.
func (g *grid) metric(name, head string, drop int, cases []*results.Case) {
	s := columnScale(unitOf(cases, name))
	g.add(strings.TrimSpace(strings.ReplaceAll(head+" "+s.Unit, "\n ", "\n")), true, drop, func(c *results.Case) string { return number(c, name, s) })
	g.columns[len(g.columns)-1].metric = name
}

// axes are those of all cases in the order of their author.
func axes(cases []*results.Case) []string {
	var out []string
	for _, c := range cases {
		for _, a := range c.AxisOrder {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	return out
}

// asserted are the metrics that an assertion of these cases uses and that have no
// column otherwise.
func asserted(cases []*results.Case) []string {
	var out []string
	for _, c := range cases {
		for _, a := range c.Assertions {
			if a.Subject == nil {
				continue
			}
			for _, m := range a.Subject.Metrics() {
				shown := m == "bandwidth" || m == slowdown || named(sequenceColumns, m) || m == perSender || m == "ceiling" || named(amountColumns, m) || named(metricColumns, m) || slices.Contains(out, m)
				if !shown && has(cases, m) {
					out = append(out, m)
				}
			}
		}
	}
	return out
}

func has(cases []*results.Case, metric string) bool {
	return slices.ContainsFunc(cases, func(c *results.Case) bool { _, ok := c.Metrics.Get(metric); return ok })
}

func unitOf(cases []*results.Case, metric string) string {
	for _, c := range cases {
		if m, ok := c.Metrics.Get(metric); ok {
			return m.Unit
		}
	}
	return ""
}

// setting is the value of an axis or option of a case.
func setting(c *results.Case, name string) string {
	if v, ok := c.Axes[name]; ok {
		return plain(valueText(v))
	}
	if v, ok := c.Options[name]; ok {
		return plain(valueText(v))
	}
	return "-"
}

func valueText(v any) string { return workload.Text(v) }

// allNumbers says whether an axis has only numbers and quantities.
func allNumbers(cases []*results.Case, axis string) bool {
	return !slices.ContainsFunc(cases, func(c *results.Case) bool {
		v, ok := c.Axes[axis]
		if !ok {
			return false
		}
		_, err := quantity.Parse(strings.TrimSpace(valueText(v)))
		return err != nil
	})
}

// launchCount is how many launches a case's estimates rest on.
func launchCount(c *results.Case) string {
	if n := len(c.Succeeded()); n > 0 {
		return strconv.Itoa(n)
	}
	return "-"
}
