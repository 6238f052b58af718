package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Look is how the terminal report is drawn. Without Columns and Wide, optional columns are dropped until a
// table fits.
type Look struct {
	Color   bool
	Width   int      // of the terminal; 0: unlimited
	Columns []string // names of the columns between the axes and the verdict; nil: the usual ones
	Wide    bool     // all columns and all measured metrics, whatever the width
}

// Names of columns that are no axis, option or metric.
const (
	workingSetColumn = "working_set"
	launchesColumn   = "n"
	verdictColumn    = "verdict"
)

// intervalSuffix follows the name of a metric in the name of the column with its confidence interval.
const intervalSuffix = ".ci"

// fixed reports whether no column may be dropped.
func (l Look) fixed() bool { return l.Wide || l.Columns != nil }

// columns are those to draw of a run.
func (l Look) columns(g grid) []column {
	switch {
	case l.Columns != nil:
		return g.chosen(l.Columns)
	case l.Wide:
		return g.all()
	}
	return g.columns
}

// chosen are the columns of the axes, those with the given names, and the verdict. A column that the run
// lacks is left out.
func (g grid) chosen(names []string) []column {
	keys := axes(g.cases)
	out := slices.DeleteFunc(slices.Clone(g.columns), func(c column) bool {
		return slices.Contains(names, c.name) || !slices.Contains(keys, c.name)
	})
	for _, name := range names {
		if c, ok := g.column(name); ok {
			out = append(out, c)
		}
	}
	if !slices.Contains(names, verdictColumn) {
		out = append(out, g.columns[len(g.columns)-1])
	}
	return out
}

// column finds a column by its name, or makes it.
func (g grid) column(name string) (column, bool) {
	if i := slices.IndexFunc(g.columns, func(c column) bool { return c.name == name }); i >= 0 {
		return g.columns[i], true
	}
	of := grid{cases: g.cases}
	metric, ci := strings.CutSuffix(name, intervalSuffix)
	switch {
	case slices.ContainsFunc(g.cases, func(c *results.Case) bool { return setting(c, name) != "-" }):
		of.setting(name, 0)
	case has(g.cases, name):
		of.metric(definition(g.table, name), plain(name)+"\n", 0, g.cases)
	case ci && has(g.cases, metric):
		of.interval(metric)
	default:
		return column{}, false
	}
	return of.columns[0], true
}

// all are the columns of the run and those of its other metrics, before the number of launches.
func (g grid) all() []column {
	out := slices.Clone(g.columns)
	at := slices.IndexFunc(out, func(c column) bool { return c.name == launchesColumn })
	for _, m := range g.table.Definitions {
		if slices.ContainsFunc(out, func(c column) bool { return c.name == m.Name }) {
			continue
		}
		if c, ok := g.column(m.Name); ok {
			out = slices.Insert(out, at, c)
			at++
		}
	}
	return out
}

// CheckColumns returns an error about the first name that no run of a document has.
func CheckColumns(doc *results.Document, names []string) error {
	settings, metrics := columnNames(doc)
	for _, name := range names {
		metric, ci := strings.CutSuffix(name, intervalSuffix)
		if slices.Contains(settings, name) || slices.Contains(metrics, name) || ci && slices.Contains(metrics, metric) {
			continue
		}
		known := slices.Concat(settings, metrics)
		meant := suggest.DidYouMean(name, known)
		if meant == "" {
			meant = ";"
		}
		return fmt.Errorf("no column is named %q%s the columns are: %s; the metrics %s; METRIC%s for the interval of a metric",
			name, meant, strings.Join(settings, ", "), strings.Join(metrics, ", "), intervalSuffix)
	}
	return nil
}

// columnNames are the names of columns of all runs: first axes, options and the columns that every run has,
// then metrics.
func columnNames(doc *results.Document) (settings, metrics []string) {
	tables := workload.DefinitionsOf(doc)
	named := map[string]bool{}
	add := func(to *[]string, name string) {
		if !named[name] {
			named[name] = true
			*to = append(*to, name)
		}
	}
	seen := map[[2]string]bool{}
	for _, c := range doc.Cases {
		for _, axis := range c.AxisOrder {
			add(&settings, axis)
		}
		for option := range c.Options {
			add(&settings, option)
		}
		if kind := [2]string{c.Workload, c.Run}; !seen[kind] {
			seen[kind] = true
			for _, m := range tables.Of(c.Workload, c.Run).Definitions {
				add(&metrics, m.Name)
			}
		}
	}
	slices.Sort(settings)
	for _, name := range []string{workingSetColumn, launchesColumn, verdictColumn} {
		add(&settings, name)
	}
	return settings, metrics
}
