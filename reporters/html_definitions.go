package reporters

import (
	"weir/reporters/html"
	"weir/workload"
)

// draft is a page while it is made. Who shows a metric asks for its link, and what was
// asked for is defined at the end.
type draft struct {
	seen        map[string]bool
	definitions []html.Definition
	points      int // that figures have until now
}

func newDraft() *draft {
	return &draft{seen: map[string]bool{}}
}

// link names a metric and leads to its definition, if the registry has it.
func (d *draft) link(of, metric string) html.Link {
	found, ok := workload.FindMetric(of, metric)
	if !ok {
		return html.Link{Name: plain(metric)}
	}
	id := "m-" + of + "-" + metric
	if !d.seen[id] {
		d.seen[id] = true
		better := map[workload.Direction]string{workload.Higher: "higher is better", workload.Lower: "lower is better"}[found.Better]
		d.definitions = append(d.definitions, html.Definition{ID: id, Name: found.Name, Workload: of, Unit: found.Unit, Better: better, Doc: found.Doc})
	}
	return html.Link{Name: found.Name, ID: id, Doc: found.Doc}
}
