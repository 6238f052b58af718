package planner

import (
	"io"
	"maps"
	"slices"
	"strings"

	"weir/workload"
)

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
		common = append(common, name+"="+textWord(first.show(name, first.Options[name])))
	}
	return common, varying
}

// textStructures shows the options that are mappings: those of the first case, where they
// differ.
func textStructures(t io.Writer, cases []*Case) {
	first := cases[0]
	kind, _ := workload.Lookup(first.Workload)
	if kind == nil {
		return
	}
	for _, o := range kind.Options {
		text, ok := first.Options[o.Name].(string)
		if o.Type != workload.Structure || !ok || text == o.Default {
			continue
		}
		s, err := workload.ReadStructure(text)
		if err != nil {
			continue // a plan that was read has been checked
		}
		head := "  " + o.Name
		if slices.ContainsFunc(cases, func(c *Case) bool { return c.Options[o.Name] != text }) {
			row(t, head, "differ from case to case; those of "+first.Key+":")
			head = ""
		}
		for _, p := range s.Pairs {
			row(t, head, p.Key+": "+o.FlowOf(p.Value))
			head = ""
		}
	}
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
	var told []*Case
	for _, c := range cases {
		if _, ok := c.Options[k.AmountOf[0]]; !ok || len(c.Options.DeferredNames()) > 0 || k.Amount(c.Options) == "" ||
			slices.ContainsFunc(told, func(o *Case) bool { return sameOptions(c, o, k.AmountOf) }) {
			continue
		}
		told = append(told, c)
	}
	for _, c := range told[:min(len(told), mostAmounts)] {
		list = append(list, k.Amount(c.Options))
	}
	if len(told) < 2 {
		return list
	}
	for i := range list {
		c := told[i]
		var values []string
		for _, name := range c.AxisOrder {
			if slices.ContainsFunc(told, func(o *Case) bool { return o.Axes[name] != c.Axes[name] }) {
				values = append(values, name+"="+workload.Text(c.Axes[name]))
			}
		}
		list[i] = strings.Join(values, " ") + ": " + list[i]
	}
	if len(told) > len(list) {
		list = append(list, "…")
	}
	return list
}

func sameOptions(a, b *Case, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return a.Options[name] != b.Options[name] })
}

func commonEnv(cases []*Case) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(cases[0].Env)) {
		v := cases[0].Env[name]
		if !slices.ContainsFunc(cases, func(c *Case) bool { return c.Env[name] != v }) {
			out = append(out, name+"="+textWord(v))
		}
	}
	return out
}
