package planner

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
	"weir/workload"
)

// doubtful warns of an assertion about a metric that is, with the options of a case, of something else than it
// seems to be.
func (t *Table) doubtful(s *sheet, a *dsl.Assert, axes []int, of func(i int) *attached) {
	k := s.run.Workload
	if k.Doubtful == nil {
		return
	}
	all := slices.Concat(axes, s.axesOf(k.Checked))
	slices.Sort(all)
	for _, first := range s.by(slices.Compact(all)).first {
		if first < 0 || of(int(first)) == nil {
			continue
		}
		i := int(first)
		of(i).Takes(func(metric, key string) {
			if key != "" && key != s.key(s.columns, i) {
				return
			}
			why := ""
			_ = k.Assume(s.options(i), func(assumed workload.Values) error {
				if why = k.Doubtful(assumed, metric); why == "" {
					return nil
				}
				return fmt.Errorf("%s", why)
			})
			if why != "" {
				t.report(&hcl.Diagnostic{
					Severity: hcl.DiagWarning, Summary: "Metric of another span", Subject: a.Range.Ptr(),
					Detail: fmt.Sprintf("Case %s, %s: %s.", s.key(s.columns, i), metric, why),
				})
			}
		})
	}
}
