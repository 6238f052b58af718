// Further keys of a sweep: include, exclude and order.

package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/suggest"
)

// include reads points to add.
func (s *sweeper) include(e sweepEntry) {
	items, diags := hcl.ExprList(e.expr)
	if diags.HasErrors() {
		s.error(e.place(), "Not a list", "include is a list of points.", "Write each as an item {axis: value, …}.")
		return
	}
	for _, item := range items {
		p := &Point{Values: make([]int, len(s.run.Axes)), Range: item.Range()}
		for i := range p.Values {
			p.Values[i] = -1
		}
		for _, v := range s.mapping(item, "include") {
			s.includeValue(p, v)
		}
		var missing []string
		for i, v := range p.Values {
			if v < 0 {
				missing = append(missing, s.run.Axes[i].Name)
			}
		}
		if len(missing) > 0 && !s.diags.HasErrors() {
			s.error(item.Range(), "Incomplete point", fmt.Sprintf("The point gives no value for %s.",
				strings.Join(missing, ", ")), "Give a value for every axis of the sweep.")
			continue
		}
		if len(missing) == 0 {
			s.run.Sweep.Include = append(s.run.Sweep.Include, p)
		}
	}
}

func (s *sweeper) includeValue(p *Point, e entry) {
	i, ok := s.index[e.name]
	if !ok {
		var names []string
		for _, a := range s.run.Axes {
			names = append(names, a.Name)
		}
		s.error(e.at, "Unknown axis", fmt.Sprintf("The sweep has no axis %q.", e.name),
			suggest.Sentence(e.name, names, "axes"))
		return
	}
	a := s.run.Axes[i]
	read, ok := s.itemOf(e.expr, "axis "+e.name, strings.HasPrefix(a.Name, "env."))
	if !ok {
		return
	}
	o, isOption := s.run.Workload.Option(a.Name)
	v, ok := s.value(read, a.Name, o, isOption)
	if ok {
		p.Values[i] = s.add(a, v)
	}
}

// exclude reads points to leave out, by conditions.
func (s *sweeper) exclude(e sweepEntry) {
	items, diags := hcl.ExprList(e.expr)
	if diags.HasErrors() {
		s.error(e.place(), "Not a list", "exclude is a list of conditions with their reasons.",
			`Write {when: fabric == "ucx", reason: …} as an item.`)
		return
	}
	names := s.run.names()
	for _, item := range items {
		x := &Exclusion{Range: item.Range()}
		for _, k := range s.mapping(item, "exclude") {
			switch k.name {
			case "when":
				x.When = s.excludeCondition(k.expr, names)
			case "reason":
				x.Reason, _ = s.text(k.expr, "reason")
			default:
				s.error(k.at, "Unknown key", fmt.Sprintf("There is no %q in an exclusion.", k.name),
					suggest.Sentence(k.name, keyNames(grammar.Exclude), "keys"))
			}
		}
		if x.When != nil {
			s.run.Sweep.Exclude = append(s.run.Sweep.Exclude, x)
		} else if !s.diags.HasErrors() {
			s.error(item.Range(), "Missing condition", "The exclusion has no condition.",
				`Add when: a condition, as fabric == "ucx".`)
		}
	}
}

func (s *sweeper) excludeCondition(expr hcl.Expression, names *expression.Names) *Condition {
	c, _ := s.condition(expr, names)
	if c != nil && c.UsesHost() {
		s.error(expr.Range(), "Invalid condition", "A sweep cannot depend on the host.",
			"Use `when` of the run for conditions on the host.")
		return nil
	}
	return c
}

// order reads given, random or interleave, or the mapping.
func (s *sweeper) order(e sweepEntry) {
	o := &s.run.Sweep.Order
	o.Seed = 1
	var entries []sweepEntry
	switch {
	case e.body != nil:
		entries = s.bodyEntries(e.body)
	default:
		if pairs, diags := hcl.ExprMap(e.expr); diags.HasErrors() || pairs == nil {
			entries = []sweepEntry{{name: "by", at: e.at, expr: e.expr}}
			break
		}
		entries = s.mappingEntries(e.expr, "order")
	}
	o.By = ""
	var seed, axis *hcl.Range
	for _, k := range entries {
		switch k.name {
		case "by":
			text, ok := s.text(k.expr, "order")
			by, _ := grammar.Find(grammar.Order, "by")
			if kinds := by.Forms[0].Values; ok && !slices.Contains(kinds, text) {
				s.error(k.expr.Range(), "Invalid value", fmt.Sprintf("There is no order %q.", text),
					suggest.Sentence(text, kinds, "orders"))
			}
			o.By = text
		case "axis":
			axis = k.at.Ptr()
			o.Axis, _ = s.text(k.expr, "axis")
			if _, ok := s.index[o.Axis]; !ok && o.Axis != "" {
				s.error(k.expr.Range(), "Unknown axis", fmt.Sprintf("The sweep has no axis %q.", o.Axis),
					"Name one of its axes.")
			}
		case "seed":
			seed = k.at.Ptr()
			o.Seed = uint64(s.count(k.expr, "seed", 0, 1<<53))
		default:
			s.error(k.at, "Unknown key", fmt.Sprintf("There is no %q in order.", k.name),
				suggest.Sentence(k.name, keyNames(grammar.Order), "keys"))
		}
	}
	if o.By == "" && !s.diags.HasErrors() {
		s.error(e.place(), "Missing order", "The order has no kind.",
			"Add by: given, random or interleave.")
	}
	if o.By != "" && o.By != "interleave" && axis != nil {
		s.error(*axis, "Key without effect", "Only an interleaved order has an axis.",
			"Leave axis out, or write by: interleave.")
	}
	if o.By != "random" {
		o.Seed = 0
		if o.By != "" && seed != nil {
			s.error(*seed, "Key without effect", "Only a random order has a seed.",
				"Leave seed out, or write by: random.")
		}
	}
}

func keyNames(keys []grammar.Key) []string {
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return names
}

// misspeltSetting reports a key that is no list or range of values, as those of axes, and is named nearly like a
// setting of the sweep.
func (s *sweeper) misspeltSetting(e sweepEntry) bool {
	near := suggest.Nearest(e.name, []string{"product", "zip", "concat", "exclude", "include", "order", "max_cases"})
	if _, isOption := s.run.Workload.Option(e.name); isOption || near == "" || e.expr == nil {
		return false
	}
	if items, diags := hcl.ExprList(e.expr); !diags.HasErrors() && (len(items) == 0 || !isMapping(items[0])) {
		return false
	}
	if v, diags := e.expr.Value(nil); !diags.HasErrors() {
		if text, ok := plainText(v); ok && strings.Contains(text, "..") {
			return false
		}
	}
	s.error(e.at, "Unknown key",
		fmt.Sprintf("There is no %q in a sweep, and its value is not that of an axis.", e.name),
		fmt.Sprintf("Did you mean %q?", near))
	return true
}
