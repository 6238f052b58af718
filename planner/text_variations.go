package planner

import (
	"io"
	"maps"
	"slices"
	"strings"

	"weir/workload"
)

// variation is what something is in some cases of a run.
type variation struct {
	where string // the values of axes that these cases have; "": it is the same in all cases
	text  string
}

// variations are the different texts of cases, in the order of their first cases. Cases without a text are left out.
func variations(cases []*Case, textOf func(*Case) string) (list []variation) {
	groups := map[string][]*Case{}
	for _, c := range cases {
		text := textOf(c)
		if text == "" {
			continue
		}
		if groups[text] == nil {
			list = append(list, variation{text: text})
		}
		groups[text] = append(groups[text], c)
	}
	if len(list) == 1 && len(groups[list[0].text]) == len(cases) {
		return list
	}
	for i, v := range list {
		list[i].where = where(groups[v.text], cases)
	}
	return list
}

// where names cases by the values of those axes that tell them from the others. Where none does, it is the first key.
func where(some, all []*Case) string {
	var words []string
	for _, axis := range some[0].AxisOrder {
		values := func(cases []*Case) (list []string) {
			for _, c := range cases {
				if text := workload.Text(c.Axes[axis]); !slices.Contains(list, text) {
					list = append(list, text)
				}
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

// textEnv shows the variables that ranks get: those that all cases share, then those of some.
func textEnv(t io.Writer, cases []*Case) {
	names := map[string]bool{}
	for _, c := range cases {
		for name := range c.Env {
			names[name] = true
		}
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
		row(t, "  env", v.where+": "+v.text)
	}
}

// textStructures shows the options that are mappings: what all cases share, then what some have otherwise.
func textStructures(t io.Writer, cases []*Case) {
	kind, _ := workload.Lookup(cases[0].Workload)
	if kind == nil {
		return
	}
	for _, o := range kind.Options {
		if o.Type != workload.Structure {
			continue
		}
		head := "  " + o.Name
		for _, line := range structureLines(o, cases) {
			row(t, head, line)
			head = ""
		}
	}
}

// structureLines are the lines of one such option.
func structureLines(o workload.Option, cases []*Case) (lines []string) {
	read := make(map[*Case]*workload.Structured, len(cases))
	var keys []string
	for _, c := range cases {
		text, ok := c.Options[o.Name].(string)
		s, err := workload.ReadStructure(text)
		if !ok || text == o.Default || err != nil { // a plan that was read has been checked
			continue
		}
		read[c] = s
		for _, p := range s.Pairs {
			if !slices.Contains(keys, p.Key) {
				keys = append(keys, p.Key)
			}
		}
	}
	for _, key := range keys {
		lines = append(lines, entryLines(o, key, cases, read)...)
	}
	return lines
}

// entryLines are the lines of one entry of such an option, as a service. Of an entry that is a mapping and differs
// from case to case, a line has what all cases share.
func entryLines(o workload.Option, key string, cases []*Case, read map[*Case]*workload.Structured) (lines []string) {
	entry := func(c *Case) *workload.Structured {
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
	shared := &workload.Structured{Pairs: []workload.Pair{}}
	var varying []string
	for _, c := range cases {
		for _, p := range entry(c).Pairs {
			text := flow(o, p.Value)
			switch {
			case slices.Contains(varying, p.Key) || shared.At(p.Key) != nil:
			case slices.ContainsFunc(cases, func(c *Case) bool { return flow(o, entry(c).At(p.Key)) != text }):
				varying = append(varying, p.Key)
			default:
				shared.Pairs = append(shared.Pairs, p)
			}
		}
	}
	lines = append(lines, key+": "+flow(o, shared))
	for _, name := range varying {
		for _, v := range variations(cases, func(c *Case) string {
			if text := flow(o, entry(c).At(name)); text != "" {
				return text
			}
			return "none"
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

// flow is a part of a structure on one line; "": it is not there.
func flow(o workload.Option, s *workload.Structured) string {
	if s == nil {
		return ""
	}
	return o.FlowOf(s)
}
