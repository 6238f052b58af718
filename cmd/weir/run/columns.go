package run

import (
	"strings"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// checkPlans returns an error if --columns or --push cannot be used with the plans.
func (f *flags) checkPlans(plans []*planner.Plan) error {
	if err := f.reports.Check(casesOf(plans)); err != nil {
		return err
	}
	if f.pushTo != nil && len(plans) > 1 && strings.Contains(f.pushTo.Path, groupPath) {
		return exit.Usage("--push: %d scenarios would replace each other's metrics in one group; omit %s… of the URL",
			len(plans), groupPath)
	}
	return nil
}

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
