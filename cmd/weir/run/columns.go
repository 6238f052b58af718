package run

import (
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// casesOf is a document with the settings and metrics of the cases of plans, without measurements.
func casesOf(plans []*planner.Plan) *results.Document {
	doc := &results.Document{}
	for _, p := range plans {
		if p == nil {
			continue
		}
		doc.Metrics = append(doc.Metrics, p.Metrics()...)
		for _, c := range p.Cases {
			doc.Cases = append(doc.Cases, &results.Case{
				Run: c.Run, Workload: c.Workload, Axes: c.Axes, AxisOrder: c.AxisOrder, Options: c.Options,
			})
		}
	}
	return doc
}
