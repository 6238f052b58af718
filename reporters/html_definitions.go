package reporters

import (
	"weir/reporters/html"
	"weir/workload"
)

// definitions are those of the metrics that a page shows: who shows one asks for
// its link, and what was asked for is defined at the end.
type definitions struct {
	seen  map[string]bool
	order []html.Definition
}

func newDefinitions() *definitions {
	return &definitions{seen: map[string]bool{}}
}

// link names a metric and leads to its definition, if the registry has it.
func (d *definitions) link(of, metric string) html.Link {
	m, ok := workload.FindMetric(of, metric)
	if !ok {
		return html.Link{Name: plain(metric)}
	}
	id := "m-" + of + "-" + metric
	if !d.seen[id] {
		d.seen[id] = true
		better := map[workload.Direction]string{workload.Higher: "higher is better", workload.Lower: "lower is better"}[m.Better]
		d.order = append(d.order, html.Definition{ID: id, Name: m.Name, Workload: of, Unit: m.Unit, Better: better, Doc: m.Doc})
	}
	return html.Link{Name: m.Name, ID: id, Doc: m.Doc}
}

func (d *definitions) used() []html.Definition { return d.order }
