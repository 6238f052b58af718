package importer

import (
	"maps"
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// knowsParameter reports whether a parameter is a known variable, or has a default.
func (v variables) knowsParameter(n *syntax.ParamExp) bool {
	if n.Param == nil || n.Width || n.IsSet || n.Names != 0 || n.Excl && n.Index == nil {
		return false
	}
	name := n.Param.Value
	known := v[name]
	all := name == "@" || name == "*"
	if all {
		known = v["@"]
	}
	if index, _ := n.Index.(*syntax.Word); n.Index != nil {
		if !known.isArray() {
			return false
		}
		if all = litOf(index) == "@" || litOf(index) == "*"; !all && !n.Excl {
			plain := n.Exp == nil || !slices.Contains(defaults, n.Exp.Op)
			return v.hasElement(known, n.Index) && plain && n.Repl == nil && n.Slice == nil
		}
	}
	switch {
	case all && known.Kind == expand.Associative:
		return n.Exp == nil && n.Repl == nil && n.Slice == nil && !n.Length // which package expand does not count
	case all:
		return known.Kind == expand.Indexed && n.Exp == nil && n.Repl == nil && v.knowsSlice(n.Slice, 1)
	case n.Excl:
		return false
	case n.Exp != nil && slices.Contains(defaults, n.Exp.Op):
		named := syntax.ValidName(name) || isCount(name)
		return named && !v.unknown(name) && !known.isArray()
	}
	return known.Kind == expand.String && v.knowsSlice(n.Slice, 0)
}

// defaults are the operators of a default; := also assigns it.
var defaults = []syntax.ParExpOperator{
	syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
}

// knowsSlice reports whether a part of a value has known ends, and its first one is at least this.
func (v variables) knowsSlice(s *syntax.Slice, least int64) bool {
	if s == nil {
		return true
	}
	from, ok := v.number(s.Offset, false)
	if ok = ok && s.Offset != nil && from >= least; ok && s.Length != nil {
		var length int64
		length, ok = v.number(s.Length, false)
		ok = ok && length >= 0
	}
	return ok
}

// assumes reports whether a node has a default that counts, or a variable that follows from one.
func (v variables) assumes(in syntax.Node) (found bool) {
	syntax.Walk(in, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			if n.Param == nil {
				return true
			}
			known := v[n.Param.Value]
			isDefault := n.Exp != nil && slices.Contains(defaults, n.Exp.Op) && known.Kind == expand.Unknown
			found = found || known.assumed || isDefault
		case *syntax.CallExpr: // of a function, which may use a default, or of what a host may lack
			name := n.Args
			found = found || len(name) > 0 && (v[functionEntry(name[0].Lit())].function != nil ||
				slices.Contains(names("which|command|type"), name[0].Lit()))
		case *syntax.Lit: // in arithmetic
			found = found || syntax.ValidName(n.Value) && v[n.Value].assumed
		}
		return !found
	})
	return found
}

// setArguments keeps the arguments of a function, or those that set gives; nil: they are not known.
func (v variables) setArguments(list []variable) {
	v.forgetArguments()
	if list == nil {
		return
	}
	all, known := []string{}, true
	for i, a := range list {
		v[strconv.Itoa(i+1)] = a
		all, known = append(all, a.Str), known && a.Set
	}
	v.set("#", strconv.Itoa(len(list)), true)
	if known {
		v.setList("@", all)
		v.assume("@", slices.ContainsFunc(list, func(a variable) bool { return a.assumed }))
	}
	for i := len(list) + 1; i <= mostArguments; i++ {
		delete(v, strconv.Itoa(i)) // not set: a default counts
	}
}

// mostArguments is how many arguments a function or a script is expected to use.
const mostArguments = 40

// argumentNames are the names of arguments, and those of all and of their number.
func argumentNames() []string {
	all := []string{"@", "#"}
	for i := range mostArguments {
		all = append(all, strconv.Itoa(i+1))
	}
	return all
}

func (v variables) forgetArguments() {
	for _, name := range argumentNames() {
		v.forget(name)
	}
}

// keep returns what restores variables to what they are now.
func (v variables) keep(names []string) (restore func(variables)) {
	before := variables{}
	for _, name := range names {
		if known, ok := v[name]; ok {
			before[name] = known
		}
	}
	return func(to variables) {
		for _, name := range names {
			delete(to, name)
		}
		maps.Copy(to, before)
	}
}

// arguments returns the arguments that setArguments set; not ok if their number is not known.
func (v variables) arguments() (list []variable, ok bool) {
	n, err := strconv.Atoi(v["#"].Str)
	for i := 1; err == nil && i <= n; i++ {
		list = append(list, v[strconv.Itoa(i)])
	}
	return list, err == nil
}

// shift removes the first arguments.
func (v variables) shift(by string) {
	n, err := strconv.Atoi(by)
	list, ok := v.arguments()
	if err != nil || !ok || n < 0 || n > len(list) {
		v.setArguments(nil)
		return
	}
	v.setArguments(append([]variable{}, list[n:]...)) // not nil
}

// askedFor returns the variables that a condition asks for with -z or -n, and which the script assigned nowhere before.
func (v variables) askedFor(cond []*syntax.Stmt) (asked []string) {
	ask := func(w *syntax.Word) {
		syntax.Walk(w, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && syntax.ValidName(p.Param.Value) {
				name := p.Param.Value
				if _, set := v[name]; !set && !v.unknown(name) {
					asked = append(asked, name)
				}
			}
			return true
		})
	}
	for _, c := range cond {
		syntax.Walk(c, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				for i := 1; i+1 < len(n.Args); i++ {
					if lit := n.Args[i].Lit(); lit == "-z" || lit == "-n" {
						ask(n.Args[i+1])
					}
				}
			case *syntax.UnaryTest:
				if w, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsEmpStr || n.Op == syntax.TsNempStr) {
					ask(w)
				}
			}
			return true
		})
	}
	return asked
}
