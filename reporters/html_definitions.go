package reporters

import (
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/workload"
)

// draft is a page under construction. Metrics that were linked are defined at its end.
type draft struct {
	metrics     *workload.Definitions
	seen        map[string]bool
	ids         map[string]int // of cases and findings so far, with their number
	definitions []html.Definition
	points      int // in figures so far
	samples     sampleFiles
}

func newDraft(metrics *workload.Definitions) *draft {
	return &draft{metrics: metrics, seen: map[string]bool{}, ids: map[string]int{}}
}

// link names a metric of a run with a link to its definition, if there is one.
func (d *draft) link(of, run, metric string) html.Link {
	table := d.metrics.Of(of, run)
	found, ok := workload.FindMetric(table.Definitions, metric)
	if !ok {
		return html.Link{Name: plain(metric)}
	}
	id := "m-" + of + "-" + metric
	if table.Run != "" {
		id = "m-" + of + "-" + table.Run + "-" + metric
	}
	if !d.seen[id] {
		d.seen[id] = true
		better := map[workload.Direction]string{workload.Higher: "higher is better",
			workload.Lower: "lower is better"}[found.Better]
		d.definitions = append(d.definitions, html.Definition{
			ID: id, Name: found.Name, Workload: of, Unit: found.Unit, Better: better, Doc: found.Doc,
		})
	}
	return html.Link{Name: found.Name, ID: id, Doc: found.Doc}
}
