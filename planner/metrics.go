// Metrics of a plan's cases.

package planner

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/workload"
)

// Metrics returns the metrics of the plan's cases: a table for each run that declares metrics, and
// one for each other workload.
func (p *Plan) Metrics() []workload.MetricTable {
	declared := map[string][]workload.Metric{}
	for _, r := range p.Runs {
		declared[r.Name] = r.Metrics
	}
	var out []workload.MetricTable
	for _, c := range p.Cases {
		t := workload.MetricTable{Workload: c.Workload}
		if own := declared[c.Run]; own != nil {
			t.Run, t.Definitions, t.Columns = c.Run, own, tableColumns(c.Workload, own)
		} else if k, ok := workload.Lookup(c.Workload); ok {
			t = k.Table()
		}
		known := slices.ContainsFunc(out, func(o workload.MetricTable) bool {
			return o.Workload == t.Workload && o.Run == t.Run
		})
		if !known && t.Definitions != nil {
			out = append(out, t)
		}
	}
	return out
}

// tableColumns returns the columns of a workload and the metrics that a run adds; nil if the
// workload has none, so that tables show all metrics.
func tableColumns(name string, metrics []workload.Metric) []workload.Column {
	k, ok := workload.Lookup(name)
	if !ok || k.Show.Columns == nil {
		return nil
	}
	all := slices.Clone(k.Show.Columns)
	for _, m := range metrics {
		if _, own := workload.FindMetric(k.Metrics, m.Name); !own {
			all = append(all, workload.Column{Metric: m.Name, Head: m.Name + "\n", Drop: len(all) + 1})
		}
	}
	return all
}

// mostDefined is how many metrics a plan's text describes; it only names further ones.
const mostDefined = 12

// metricWords formats the metrics that a run declares, each with its comma.
func metricWords(metrics []workload.Metric) []string {
	var words []string
	for i := range metrics {
		word := metrics[i].Name
		if len(metrics) <= mostDefined {
			word = metricsText(metrics[i : i+1])
		}
		if i < len(metrics)-1 {
			word += ","
		}
		words = append(words, word)
	}
	return words
}

// metricsText formats the metrics that a run declares.
func metricsText(metrics []workload.Metric) string {
	var all []string
	for _, m := range metrics {
		words := []string{m.Name, m.Unit, "better " + string(m.Better)}
		if m.MayBeZero {
			words = append(words, "may be 0")
		}
		all = append(all, strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " "))
	}
	return strings.Join(all, ", ")
}
