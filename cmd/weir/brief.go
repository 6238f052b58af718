package main

import (
	"cmp"
	"strings"

	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// mostBrief is how many metrics are shown of a workload that does not say which.
const mostBrief = 3

// brief is a case's result in a launch, in short.
func (t *tally) brief(key string, measured results.MetricValues) string {
	c := t.plan[key]
	if c == nil {
		return ""
	}
	table := t.metrics.Of(c.Workload, c.Run)
	var names []string
	if k, ok := workload.Lookup(c.Workload); ok && table.Run == "" {
		names = k.Brief
	}
	if names == nil {
		for _, m := range table.Definitions[:min(len(table.Definitions), mostBrief)] {
			names = append(names, m.Name)
		}
	}
	var parts []string
	for _, name := range names {
		m, _ := workload.FindMetric(table.Definitions, name)
		if v, ok := measured.Get(name); ok {
			parts = append(parts, cmp.Or(m.Quantile, name)+" "+quantity.Format(v, m.Unit))
		}
	}
	return strings.Join(parts, ", ")
}
