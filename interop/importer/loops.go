package importer

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/option"
)

// became adds to the fate of a call's command; several passes of a loop may have several fates.
func (c *call) became(text string) {
	switch {
	case c.fate == nil, slices.Contains(strings.Split(c.fate.Became, ", "), text):
	case c.fate.Became == "":
		c.fate.Became = text
	default:
		c.fate.Became += ", " + text
	}
}

// swept makes one call of the passes of a loop that differ in options and variables alone and have each
// combination of the values: these become axes of a sweep. Passes that differ otherwise stay separate.
func swept(passes []*call) (merged []*call) {
	for len(passes) > 0 {
		first := passes[0].run.without(passes[0].run.kind.Options, variableNames(passes[0].run))
		alike := []*call{passes[0]}
		var others []*call
		for _, c := range passes[1:] {
			rest := c.run.without(c.run.kind.Options, variableNames(c.run))
			if reflect.DeepEqual(rest.shape(), first.shape()) && len(c.unmapped) == 0 {
				alike = append(alike, c)
			} else {
				others = append(others, c)
			}
		}
		merged, passes = append(merged, asSweep(alike)...), others
	}
	return merged
}

// distinct returns the passes of a loop with one load for all requests of curl that are the same.
func distinct(passes []*call) (all []*call) {
	for _, c := range passes {
		i := slices.IndexFunc(all, func(o *call) bool {
			return c.tool == curl && c.fate != nil && slices.Equal(c.whole, o.whole) && c.outer.same(o.outer) &&
				slices.Equal(c.run.env, o.run.env) && c.sameAmount(o)
		})
		if i < 0 {
			all = append(all, c)
			continue
		}
		all[i].noteAll(c.notes)
		all[i].take(c)
		all[i].waves = all[i].waves || c.atOnce > 1
	}
	return all
}

// ofOneCommand divides calls into those that the loops around the first one's command make of it, and the rest.
func ofOneCommand(calls []*call) (passes, rest []*call) {
	for _, c := range calls {
		if c.fate == calls[0].fate {
			passes = append(passes, c)
		} else {
			rest = append(rest, c)
		}
	}
	return passes, rest
}

// sameRuns returns the passes of a loop without those that became the run of an earlier one, and tells what of their
// command lines the run does not have.
func sameRuns(passes []*call) (all []*call) {
	first, places := map[string]*call{}, map[*call][]string{}
	for _, c := range passes {
		key := fmt.Sprintf("%#v", c.run.without(nil, nil))
		of := first[key]
		if of == nil || c.tool == curl || c.further != nil || len(c.unmapped) > 0 {
			first[key], all = c, append(all, c)
			places[c] = []string{c.place()}
			continue
		}
		of.noteAll(c.notes)
		if place := c.place(); !slices.Contains(places[of], place) {
			places[of] = append(places[of], place)
		}
	}
	for _, c := range all {
		if places := places[c]; len(places) > 1 {
			c.warn("it is once in the scenario, and the script has it for each of: %s", strings.Join(places, "; "))
		}
	}
	return all
}

// place returns the words that say where a call runs: those before its program, and the address of a server.
func (c *call) place() string {
	words := slices.Clone(c.whole[:max(0, slices.Index(c.whole, c.path))])
	if c.tool.TwoSided {
		words = append(words, c.positional...)
	}
	return strings.Join(words, " ")
}

func variableNames(r *run) (names []string) {
	for _, v := range r.env {
		names = append(names, v.Name)
	}
	return names
}

// without is the run without its name, the values of some options, and some variables.
func (r *run) without(options []option.Option, variables []string) run {
	other := *r
	other.name, other.options = "", maps.Clone(r.options)
	for _, o := range options {
		delete(other.options, o.Name)
	}
	named := func(v Variable) bool { return slices.Contains(variables, v.Name) }
	other.env = slices.DeleteFunc(slices.Clone(r.env), named)
	return other
}

// axis is what differs between calls.
type axis struct {
	name   string
	each   list               // the value of each call; nil: a default
	values list               // without repetitions
	words  []func(expression) // set the words of the first call's command lines that have the value
}

func axisOf(calls []*call, name string, of func(*run) value) axis {
	a := axis{name: name}
	for _, c := range calls {
		v := of(c.run)
		a.each = append(a.each, v)
		if !slices.ContainsFunc(a.values, func(known value) bool { return reflect.DeepEqual(known, v) }) {
			a.values = append(a.values, v)
		}
	}
	return a
}

// asSweep makes one call of calls that differ in options and variables alone. If they have each combination
// of the values, the sweep crosses these; else they advance together. Values that no sweep can have divide the calls.
func asSweep(calls []*call) []*call {
	first := calls[0].run
	var all []axis
	for _, v := range first.env {
		all = append(all, axisOf(calls, "env."+v.Name, func(r *run) value { return r.variable(v.Name) }))
	}
	for _, o := range first.kind.Options {
		all = append(all, optionAxes(calls, o)...)
	}
	all = append(all, wordAxes(calls)...)
	var options []option.Option
	var variables []string
	var axes, rows mapping
	combinations := 1
	for _, a := range all {
		if len(a.values) < 2 {
			continue
		}
		if slices.ContainsFunc(a.values, func(v value) bool { return !isScalar(v) }) {
			return a.sweepsOfEach(calls)
		}
		if name, is := strings.CutPrefix(a.name, "env."); is {
			variables = append(variables, name)
		} else if o, ok := first.kind.Option(a.name); ok {
			options = append(options, o)
		}
		axes, rows = append(axes, pair{a.name, a.values}), append(rows, pair{a.name, a.each})
		combinations *= len(a.values)
	}
	switch {
	case combinations == len(calls):
	case len(axes) < 2 || repeated(rows, len(calls)):
		return calls
	default:
		axes = mapping{{"zip", rows}}
	}
	for _, a := range all {
		for _, set := range a.words {
			if len(a.values) < 2 {
				continue
			}
			set(expression("${axis." + a.name + "}"))
		}
	}
	swept := first.without(options, variables)
	swept.name, swept.sweep = first.name, append(slices.Clone(first.sweep), axes...)
	*first = swept
	for _, c := range calls[1:] {
		calls[0].further = append(calls[0].further, c.further...)
		calls[0].noteAll(c.notes)
	}
	return calls[:1]
}

// sweepsOfEach makes a call of the calls with each value of an axis that no sweep can have, such as an option that some
// of them lack.
func (a axis) sweepsOfEach(calls []*call) (merged []*call) {
	for _, v := range a.values {
		var alike []*call
		for i, c := range calls {
			if reflect.DeepEqual(a.each[i], v) {
				alike = append(alike, c)
			}
		}
		merged = append(merged, asSweep(alike)...)
	}
	return merged
}

// optionAxes returns the axis of an option, or of each field of one that is a structure with the same fields in all
// calls. A call without the option has its default.
func optionAxes(calls []*call, o option.Option) (axes []axis) {
	name := o.Name
	fields, ok := calls[0].run.options[name].(inline)
	for _, c := range calls {
		other, is := c.run.options[name].(inline)
		ok = ok && is && slices.EqualFunc(fields, other, func(a, b pair) bool { return a.key == b.key })
	}
	if !ok {
		given := func(c *call) bool { return c.run.options[name] != nil }
		count, counted := o.Default.(int64)
		counted = counted && o.DefaultBy == nil && slices.ContainsFunc(calls, given)
		return []axis{axisOf(calls, name, func(r *run) value {
			if v := r.options[name]; v != nil || !counted {
				return v
			}
			return literal(strconv.FormatInt(count, 10))
		})}
	}
	for i, field := range fields {
		a := axisOf(calls, calls[0].axisName(name+"_"+field.key, nil),
			func(r *run) value { return r.options[name].(inline)[i].value })
		a.words = []func(expression){func(v expression) { fields[i].value = v }}
		axes = append(axes, a)
	}
	return axes
}

// isScalar reports whether a value can be one of an axis.
func isScalar(v value) bool {
	switch v.(type) {
	case literal, quoted, bare, truth, expression:
		return true
	}
	return false
}

// repeated reports whether two of n rows are equal, given their columns.
func repeated(columns mapping, n int) bool {
	row := func(i int) (out list) {
		for _, c := range columns {
			out = append(out, c.value.(list)[i])
		}
		return out
	}
	for i := range n {
		for j := range i {
			if reflect.DeepEqual(row(i), row(j)) {
				return true
			}
		}
	}
	return false
}

// variable is the value of a variable of a run; nil: it has none.
func (r *run) variable(name string) value {
	for _, v := range r.env {
		if v.Name == name {
			return literal(v.Value)
		}
	}
	return nil
}
