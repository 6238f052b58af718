package planner

import (
	"maps"
	"slices"

	"weir/workload"
)

// off are texts of defaults that switch something off: a plan for people leaves these out.
var off = []string{"", "0", "0s", "0/s", "false"}

// splitOptions divides options into those that all cases share, as name=value,
// and the names of those that differ and are no axis.
func splitOptions(cases []*Case) (common, varying []string) {
	first := cases[0]
	kind, known := workload.Lookup(first.Workload)
	if !known {
		kind = &workload.Kind{}
	}
	for _, name := range slices.Sorted(maps.Keys(first.Options)) {
		o, _ := kind.Option(name)
		if slices.Contains(first.AxisOrder, name) || said(kind, name, cases) || o.Type == workload.Structure {
			continue // structures have lines of their own
		}
		text := workload.Text(first.Options[name])
		if slices.ContainsFunc(cases, func(c *Case) bool { return workload.Text(c.Options[name]) != text }) {
			varying = append(varying, name)
			continue
		}
		if slices.Contains(off, text) && o.Default != nil && slices.Contains(off, workload.Text(o.Default)) {
			continue
		}
		common = append(common, name+"="+textWord(first.show(name, first.Options[name])))
	}
	return common, varying
}

// mostAmounts is how many are told of a run.
const mostAmounts = 6

// amounts are what options of cases amount to that do not say it themselves, with the values of
// axes where these make a difference.
func amounts(cases []*Case) (list []string) {
	k, known := workload.Lookup(cases[0].Workload)
	if !known || k.Amount == nil {
		return nil
	}
	all := variations(cases, func(c *Case) string {
		if _, ok := c.Options[k.AmountOf[0]]; !ok || len(c.Options.DeferredNames()) > 0 {
			return ""
		}
		return k.Amount(c.Options)
	})
	for _, v := range all[:min(len(all), mostAmounts)] {
		list = append(list, prefixed(v.where, v.text))
	}
	if len(all) > len(list) {
		list = append(list, "…")
	}
	return list
}
