package reporters

import (
	"weir/reporters/html"
	"weir/workload"
)

// draft is a page while it is made. Who shows a metric asks for its link, and what was
// asked for is defined at the end.
type draft struct {
	metrics     *workload.Definitions
	seen        map[string]bool
	definitions []html.Definition
	points      int // that figures have until now
	samples     sampleFiles
}

func newDraft(metrics *workload.Definitions) *draft {
	return &draft{metrics: metrics, seen: map[string]bool{}}
}

// link names a metric of a run and leads to its definition, if there is one.
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
