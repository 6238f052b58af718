// Plans as text: options.

package planner

import (
	"maps"
	"slices"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
)

// offDefaults are default values that disable something; plans for people omit them.
var offDefaults = []string{"", "0", "0s", "0/s", "false"}

// splitOptions divides options into those with one value in all cases, as name=value, and the names
// of those that differ and are not axes.
func splitOptions(cases []*Case) (common, varying []string) {
	first := cases[0]
	kind, known := workload.Lookup(first.Workload)
	if !known {
		kind = &workload.Kind{}
	}
	for _, name := range slices.Sorted(maps.Keys(first.Options)) {
		o, _ := kind.Option(name)
		if slices.Contains(first.AxisOrder, name) || shownOtherwise(kind, name, cases) || o.Type == option.Structure {
			continue // structures have their own lines
		}
		text := option.Text(first.Options[name])
		if !allEqual(cases, func(c *Case) string { return option.Text(c.Options[name]) }) {
			varying = append(varying, name)
			continue
		}
		if slices.Contains(offDefaults, text) && o.Default != nil &&
			slices.Contains(offDefaults, option.Text(o.Default)) {
			continue
		}
		common = append(common, name+"="+textWord(first.show(name, first.Options[name])))
	}
	return common, varying
}

// mostAmounts is how many amounts of a run are shown.
const mostAmounts = 6

// amounts lists quantities that follow from options of cases, with the values of axes if these make
// a difference.
func amounts(cases []*Case) (list []string) {
	k, known := workload.Lookup(cases[0].Workload)
	if !known {
		return nil
	}
	b, ok := k.Behaviour.(workload.Summarizer)
	if !ok {
		return nil
	}
	all := variations(cases, func(c *Case) string {
		if _, ok := c.Options[b.AmountOf()[0]]; !ok || len(c.Options.DeferredNames()) > 0 {
			return ""
		}
		return b.Amount(c.Options)
	})
	for _, v := range all[:min(len(all), mostAmounts)] {
		list = append(list, prefixed(v.where, v.text))
	}
	if len(all) > len(list) {
		list = append(list, "…")
	}
	return list
}
