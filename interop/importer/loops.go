package importer

import (
	"maps"
	"reflect"
	"slices"
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

// swept makes one call of the passes of a loop that differ in options alone and have each combination of
// the options' values: these become axes of a sweep. Passes that differ otherwise stay separate.
func swept(passes []*call) (merged []*call) {
	for len(passes) > 0 {
		alike := []*call{passes[0]}
		var others []*call
		for _, c := range passes[1:] {
			if reflect.DeepEqual(c.run.without(c.run.kind.Options), passes[0].run.without(c.run.kind.Options)) &&
				len(c.unmapped) == 0 {
				alike = append(alike, c)
			} else {
				others = append(others, c)
			}
		}
		merged, passes = append(merged, asSweep(alike)...), others
	}
	return merged
}

// without is the run without its name and some options.
func (r *run) without(options []option.Option) run {
	other := *r
	other.name, other.options = "", maps.Clone(r.options)
	for _, o := range options {
		delete(other.options, o.Name)
	}
	return other
}

// asSweep makes one call of calls that differ in options alone, if they have each combination of the
// options' values.
func asSweep(calls []*call) []*call {
	first := calls[0].run
	var differ []option.Option
	var axes mapping
	combinations := 1
	for _, o := range first.kind.Options {
		var values list
		for _, c := range calls {
			v := c.run.options[o.Name] // nil: the default
			if !slices.ContainsFunc(values, func(known value) bool { return reflect.DeepEqual(known, v) }) {
				values = append(values, v)
			}
		}
		if len(values) < 2 {
			continue
		}
		if slices.Contains(values, nil) {
			return calls
		}
		differ, axes = append(differ, o), append(axes, pair{o.Name, values})
		combinations *= len(values)
	}
	if combinations != len(calls) {
		return calls
	}
	swept := first.without(differ)
	swept.name, swept.sweep = first.name, append(slices.Clone(first.sweep), axes...)
	*first = swept
	return calls[:1]
}
