package workload

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/internal/option"
)

// Document fills in the texts of options and metrics from a Markdown file (see option.Docs), and its notes, which
// are everything after the heading "# Notes".
func (k *Kind) Document(markdown string) {
	markdown, k.Show.Notes, _ = strings.Cut(markdown, "\n# Notes\n")
	d := option.ReadDocs(markdown)
	d.OfOptions(k.Options)
	DocumentMetrics(d, k.Metrics)
}

// DocumentMetrics fills in the texts of metrics. Each text must have its metric.
func DocumentMetrics(d option.Docs, metrics []Metric) {
	left := len(d["Metrics"])
	for i := range metrics {
		if text, ok := d["Metrics"][metrics[i].Name]; ok {
			metrics[i].Doc = text
			left--
		}
	}
	if left > 0 {
		panic(fmt.Sprintf("%d texts have no metric", left))
	}
}
