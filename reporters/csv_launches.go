package reporters

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-bench/weir/results"
)

// conditionColumns are the columns of conditions, without axes, which have columns already.
func conditionColumns(axisNames []string) []string {
	names := []string{"bytes"}
	for _, condition := range conditions {
		names = append(names, condition.name)
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(axisNames, name) })
}

func conditionCells(c *results.Case, columns []string) []string {
	var cells []string
	for _, condition := range append([]condition{{"bytes", blockBytes}}, conditions...) {
		if slices.Contains(columns, condition.name) {
			cells = append(cells, condition.of(c))
		}
	}
	return cells
}

// CSVLaunches writes one row per launch of a case, including failed and retried ones, with a column for
// each metric in full precision.
func CSVLaunches(w io.Writer, doc *results.Document) error {
	out := newSheet(w)
	axisNames, metrics := axes(doc.Cases), launchMetrics(doc)
	fixed := []string{
		"session", "scenario", "run", "case", "launch", "started", "duration_s", "status", "failure", "simulated",
		"retried", "verified", "nodes",
	}
	conditionHead := conditionColumns(axisNames)
	head := slices.Concat(fixed, conditionHead)
	add := func(name, prefix string) { head = append(head, distinct(plain(name), prefix, head)) }
	for _, a := range axisNames {
		add(a, "axis_")
	}
	for _, m := range metrics {
		add(m, "metric_")
	}
	if err := out.write(head); err != nil {
		return fmt.Errorf("writing the header: %w", err)
	}
	for _, c := range doc.Cases {
		cells := append(conditionCells(c, conditionHead), axisCells(c, axisNames)...)
		for _, l := range c.Launches {
			row := slices.Concat(launchCells(doc, c, l), cells)
			if i := slices.Index(head, "transport"); i >= 0 && len(l.Transports) > 0 {
				row[i] = plain(results.CarriedBy(l.Transports))
			}
			if i := slices.Index(head, "provider"); i >= 0 {
				row[i] = plain(results.ProviderText(results.ProviderFacts(l.Provider)))
			}
			if i := slices.Index(head, "libraries"); i >= 0 {
				row[i] = plain(results.LibrariesText(l.Libraries))
			}
			for _, m := range metrics {
				v := ""
				if x, ok := l.Metrics.Get(m); ok {
					v = raw(x)
				}
				row = append(row, v)
			}
			if err := out.write(row); err != nil {
				return fmt.Errorf("writing case %s: %w", c.Key, err)
			}
		}
	}
	return out.end()
}

func launchCells(doc *results.Document, c *results.Case, l *results.Launch) []string {
	failure, started := "", ""
	if l.Failure != nil {
		failure = plain(l.Failure.String())
	}
	if !l.Started.IsZero() {
		started = l.Started.UTC().Format(time.RFC3339Nano)
	}
	return []string{
		plain(doc.Session.ID), plain(doc.Scenario.Name), plain(c.Run), plain(c.Key), strconv.Itoa(l.Index), started,
		raw(l.Duration), l.Status, failure, strconv.FormatBool(l.Simulated), strconv.FormatBool(l.Retried),
		strconv.FormatBool(l.Verified), plain(strings.Join(l.Nodes, " ")),
	}
}

// launchMetrics are the metrics of all launches, in order of appearance.
func launchMetrics(doc *results.Document) (names []string) {
	seen := map[string]bool{}
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			for name := range l.Metrics.All() {
				if !seen[name] {
					seen[name] = true
					names = append(names, name)
				}
			}
		}
	}
	return names
}
