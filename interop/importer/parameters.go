package importer

import (
	"maps"
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

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
