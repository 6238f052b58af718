package importer

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Calls of one tool that weir runs as they are differ in words of the command lines of their roles: these become axes.

// argument is a word after the program in the command line of a role.
type argument struct {
	text value
	flag string // that it belongs to, without dashes; "": none
	set  func(expression)
}

// arguments returns those of all roles, without flags.
func (r *run) arguments() (all []argument) {
	if !r.command {
		return nil
	}
	roles, _ := r.options["roles"].(mapping)
	for _, role := range roles {
		keys, _ := role.value.(mapping)
		for _, key := range keys {
			line, ok := key.value.(list)
			if key.key != "command" || !ok {
				continue
			}
			flag := ""
			for i, v := range line {
				text, ok := v.(literal)
				before, after, joined := strings.Cut(string(text), "=")
				name := strings.TrimLeft(before, "-")
				switch {
				case i == 0 || !ok:
				case name == before: // no flag
					all = append(all, argument{v, flag, func(v expression) { line[i] = v }})
				case joined:
					all = append(all, argument{literal(after), name, func(v expression) {
						line[i] = expression(before+"=") + v
					}})
				default:
					flag = name
					continue
				}
				flag = ""
			}
		}
	}
	return all
}

// shape is the run without the arguments of its command lines.
func (r run) shape() run {
	if !r.command {
		return r
	}
	r.options = maps.Clone(r.options)
	r.options["roles"] = cloned(r.options["roles"])
	for _, w := range r.arguments() {
		w.set("")
	}
	return r
}

// cloned copies mappings and lists.
func cloned(v value) value {
	switch v := v.(type) {
	case mapping:
		out := slices.Clone(v)
		for i := range out {
			out[i].value = cloned(out[i].value)
		}
		return out
	case list:
		return slices.Clone(v)
	}
	return v
}

// wordAxes returns the axes of arguments in which calls of one shape differ. Arguments that go together, as those of
// both sides of a test, are one axis. It is named after the flag.
func wordAxes(calls []*call) (axes []axis) {
	first := calls[0].run.arguments()
	for i, w := range first {
		a := axisOf(calls, "", func(r *run) value { return r.arguments()[i].text })
		if len(a.values) < 2 {
			continue
		}
		at := slices.IndexFunc(axes, func(known axis) bool { return reflect.DeepEqual(known.each, a.each) })
		if at < 0 {
			a.name = calls[0].axisName(w.flag, axes)
			at, axes = len(axes), append(axes, a)
		}
		axes[at].words = append(axes[at].words, w.set)
	}
	return axes
}

// longName returns the long form of a name of a flag; an entry may have several flags.
func (f *flag) longName(at int) string {
	switch {
	case len(f.Names[at]) == 1 && len(f.Names[0]) > 1:
		return f.Names[0]
	case len(f.Names[at]) == 1 && at+1 < len(f.Names):
		return f.Names[at+1]
	}
	return f.Names[at]
}

// axisName is a free name for an axis: the option that a flag of the tool sets, or the flag's long name.
func (c *call) axisName(flag string, taken []axis) string {
	name := flag
	for _, s := range c.given {
		if at := slices.Index(s.flag.Names, flag); at >= 0 {
			name = cmp.Or(s.flag.Option, s.flag.longName(at))
		}
	}
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, cmp.Or(name, "argument"))
	for slices.ContainsFunc(taken, func(a axis) bool { return a.name == name }) ||
		slices.ContainsFunc(c.run.sweep, func(p pair) bool { return p.key == name }) {
		name += "_"
	}
	return name
}
