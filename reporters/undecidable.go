package reporters

import (
	"strings"

	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

const undecidableTitle = "Values that decide nothing"

// undecidableValues says which columns have values that decide no assertion, and why.
func undecidableValues(doc *results.Document) (out []string) {
	tables := workload.DefinitionsOf(doc)
	var metrics ordered.Groups[string, string] // by reason
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
				if has && why != "" {
					ordered.AddOnce(&metrics, why, column.Metric)
				}
			}
		}
	}
	for why, names := range metrics.All() {
		out = append(out, plain(strings.Join(names, ", ")+" decide nothing: "+why))
	}
	return out
}
