// Plans as text: settings that differ between cases.

package planner

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/workload"
)

// variation is a text with the cases of a run that have it.
type variation struct {
	where string // the values of axes that these cases have; "": all cases
	text  string
}

// variations returns the different texts of cases, in the order of their first cases. Cases without
// a text are left out.
func variations(cases []*Case, textOf func(*Case) string) (list []variation) {
	var groups ordered.Groups[string, *Case]
	for _, c := range cases {
		if text := textOf(c); text != "" {
			groups.Add(text, c)
		}
	}
	for text, some := range groups.All() {
		v := variation{text: text}
		if len(some) < len(cases) {
			v.where = where(some, cases)
		}
		list = append(list, v)
	}
	return list
}

// where describes cases by the axis values that distinguish them from the others; if there are
// none, by the first key.
func where(some, all []*Case) string {
	var words []string
	for _, axis := range some[0].AxisOrder {
		values := func(cases []*Case) (list []string) {
			for _, c := range cases {
				list = ordered.Append(list, option.Text(c.Axes[axis]))
			}
			return list
		}
		if have := values(some); len(have) < len(values(all)) {
			words = append(words, axis+"="+strings.Join(have, ","))
		}
	}
	if len(words) == 0 {
		return some[0].Key
	}
	return strings.Join(words, " ")
}

// textEnv shows the variables of ranks: those that all cases share, then the others.
func textEnv(t io.Writer, cases []*Case) {
	names := map[string]string{}
	for _, c := range cases {
		maps.Copy(names, c.Env)
	}
	var common, varying []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		v, ok := cases[0].Env[name]
		switch {
		case slices.Contains(cases[0].AxisOrder, "env."+name): // a column shows it
		case ok && !slices.ContainsFunc(cases, func(c *Case) bool { w, ok := c.Env[name]; return !ok || v != w }):
			common = append(common, name+"="+textWord(v))
		default:
			varying = append(varying, name)
		}
	}
	rowOfWords(t, "  env", common)
	for _, v := range variations(cases, func(c *Case) string {
		var words []string
		for _, name := range varying {
			if v, ok := c.Env[name]; ok {
				words = append(words, name+"="+textWord(v))
			}
		}
		return strings.Join(words, " ")
	}) {
		textRow(t, "  env", v.where+": "+v.text)
	}
}

// textStructures shows the options that are mappings: common parts first, then differences.
func textStructures(t io.Writer, cases []*Case) {
	kind, _ := workload.Lookup(cases[0].Workload)
	if kind == nil {
		return
	}
	for _, o := range kind.Options {
		if o.Type != option.Structure {
			continue
		}
		head := "  " + o.Name
		for _, line := range structureLines(o, cases) {
			textRow(t, head, line)
			head = ""
		}
	}
}

// structureLines returns the lines of one such option.
func structureLines(o option.Option, cases []*Case) (lines []string) {
	read := make(map[*Case]*structure.Value, len(cases))
	var keys []string
	var usual []*Case
	for _, c := range cases {
		text, ok := c.Options[o.Name].(string)
		s, err := structure.Read(text)
		if ok && text == o.Default {
			usual = append(usual, c)
			continue
		}
		if !ok || err != nil { // a plan that was read has been checked
			continue
		}
		read[c] = s
		for _, p := range s.Pairs {
			keys = ordered.Append(keys, p.Key)
		}
	}
	for _, key := range keys {
		lines = append(lines, entryLines(o, key, cases, read)...)
	}
	if len(keys) > 0 && len(usual) > 0 {
		lines = append(lines, prefixed(where(usual, cases), "default"))
	}
	return lines
}

// entryLines returns the lines of one entry of such an option, as a service. If the entry is a
// mapping that differs between cases, one line has the common parts.
func entryLines(o option.Option, key string, cases []*Case, read map[*Case]*structure.Value) (lines []string) {
	entry := func(c *Case) *structure.Value {
		if read[c] == nil {
			return nil
		}
		return read[c].At(key)
	}
	whole := variations(cases, func(c *Case) string { return flow(o, entry(c)) })
	isMapping := func(c *Case) bool { e := entry(c); return e != nil && e.Pairs != nil }
	if len(whole) == 1 || slices.ContainsFunc(cases, func(c *Case) bool { return !isMapping(c) }) {
		for _, v := range whole {
			lines = append(lines, prefixed(v.where, key+": "+v.text))
		}
		return lines
	}
	shared := &structure.Value{Pairs: []structure.Pair{}}
	var varying []string
	for _, c := range cases {
		for _, p := range entry(c).Pairs {
			switch {
			case slices.Contains(varying, p.Key) || shared.At(p.Key) != nil:
			case allEqual(cases, func(c *Case) string { return flow(o, entry(c).At(p.Key)) }):
				shared.Pairs = append(shared.Pairs, p)
			default:
				varying = append(varying, p.Key)
			}
		}
	}
	lines = append(lines, key+": "+flow(o, shared))
	for _, name := range varying {
		for _, v := range variations(cases, func(c *Case) string {
			return cmp.Or(flow(o, entry(c).At(name)), "none")
		}) {
			lines = append(lines, prefixed(v.where, key+"."+name+": "+v.text))
		}
	}
	return lines
}

func prefixed(where, text string) string {
	if where == "" {
		return text
	}
	return where + ": " + text
}

// flow formats a part of a structure on one line; "" if it is missing.
func flow(o option.Option, s *structure.Value) string {
	if s == nil {
		return ""
	}
	return o.FlowOf(s)
}
