package reporters

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

const undecidableTitle = "Values that decide nothing"

// undecidableValues says which columns have values that decide no assertion, and why.
func undecidableValues(doc *results.Document) (out []string) {
	tables := workload.DefinitionsOf(doc)
	metrics := map[string][]string{} // by reason
	var reasons []string
	for _, c := range doc.Cases {
		b, ok := workload.As[workload.AlwaysInconclusive](c.Workload)
		if !ok {
			continue
		}
		for _, column := range tables.Of(c.Workload, c.Run).Shown() {
			for _, l := range c.Succeeded() {
				text := b.Undecidable(c.ResolvedOptions(), l.Metrics, column.Metric)
				why := strings.TrimPrefix(text, column.Metric+": ")
				_, has := l.Metrics.Get(column.Metric)
				if !has || why == "" || slices.Contains(metrics[why], column.Metric) {
					continue
				}
				if metrics[why] == nil {
					reasons = append(reasons, why)
				}
				metrics[why] = append(metrics[why], column.Metric)
			}
		}
	}
	for _, why := range reasons {
		out = append(out, plain(strings.Join(metrics[why], ", ")+" decide nothing: "+why))
	}
	return out
}
