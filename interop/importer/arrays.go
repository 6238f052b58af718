package importer

import (
	"slices"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Arrays of a shell: lists, and those with names for their elements, which declare -A makes.

func (k variable) isArray() bool { return k.Kind == expand.Indexed || k.Kind == expand.Associative }

// setNamed keeps an array with names.
func (v variables) setNamed(name string, of map[string]string) {
	v[name] = variable{Variable: expand.Variable{Set: true, Kind: expand.Associative, Map: of}}
}

// assignArray is assign for an array. Elements that are not known are kept as written.
func (s *script) assignArray(text, name string, a *syntax.Assign) (known bool) {
	before := s.known[name]
	if before.Kind == expand.Associative {
		return s.assignNames(text, name, a)
	}
	if s.known.setBy(settings(a), input{}, false) {
		return true
	}
	s.known.forget(name)
	var elements []string
	if a.Append {
		if elements = before.elements; before.Kind == expand.Indexed {
			elements = before.List
		}
		if elements == nil && before.Kind != expand.Unknown {
			return false
		}
	}
	elements = slices.Clone(elements)
	for _, e := range a.Array.Elems {
		if e.Index != nil || len(elements) > mostItems {
			return false
		}
		elements = append(elements, s.words(text, e.Value)...)
	}
	s.known[name] = variable{elements: elements}
	return false
}

// settings is a command that only assigns.
func settings(all ...*syntax.Assign) *syntax.Stmt {
	return &syntax.Stmt{Cmd: &syntax.CallExpr{Assigns: all}}
}

// assignNames is assignArray for an array with names.
func (s *script) assignNames(text, name string, a *syntax.Assign) (known bool) {
	if !a.Append {
		s.known.setNamed(name, nil)
	}
	for _, e := range a.Array.Elems {
		if e.Index == nil || !s.assignElement(name, &syntax.Assign{Name: a.Name, Index: e.Index, Value: e.Value}) {
			s.known.forget(name)
			return false
		}
	}
	return true
}

// assignElement keeps the value of an element.
func (s *script) assignElement(name string, a *syntax.Assign) (known bool) {
	if a.Append && a.Value != nil { // the interpreter appends to the first one
		before := &syntax.ParamExp{Param: a.Name, Index: a.Index}
		own := *a
		own.Append = false
		own.Value = &syntax.Word{Parts: slices.Concat(
			[]syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{before}}}, a.Value.Parts)}
		a = &own
	}
	if s.known[name].integer || !s.known.setBy(settings(a), input{}, false) {
		s.known.forget(name)
		return false
	}
	return true
}
