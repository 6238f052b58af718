package importer

import (
	"maps"
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Arrays of a shell: lists, and those with names for their elements, which declare -A makes.

func (k variable) isArray() bool { return k.Kind == expand.Indexed || k.Kind == expand.Associative }

// setNamed keeps an array with names.
func (v variables) setNamed(name string, of map[string]string) {
	v[name] = variable{Variable: expand.Variable{Set: true, Kind: expand.Associative, Map: of}}
}

// hasElement reports whether an array has an element.
func (v variables) hasElement(of variable, index syntax.ArithmExpr) bool {
	if of.Kind == expand.Associative {
		w, _ := index.(*syntax.Word)
		key, ok := v.value(w)
		_, has := of.Map[key]
		return ok && w != nil && has
	}
	count := int64(len(of.List))
	i, ok := v.number(index, false)
	return ok && i >= -count && i < count
}

// dropElement removes an element of an array. A list with a gap is known as a whole, since its indices are not the
// places of its elements.
func (v variables) dropElement(name, index string) {
	known := v[name]
	last := len(known.List) - 1
	switch {
	case known.Kind == expand.Associative && !unexpanded(index):
		known.Map = maps.Clone(known.Map)
		delete(known.Map, index)
		v[name] = known
	case known.Kind == expand.Indexed && last >= 0 && (index == "-1" || index == strconv.Itoa(last)):
		known.List = known.List[:last:last]
		v[name] = known
	default:
		v.forget(name)
		if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < last {
			v[name] = variable{elements: slices.Delete(slices.Clone(known.List), i, i+1), assumed: known.assumed}
		}
	}
}

// assignArray is assign for an array. Elements that are not known are kept as written.
func (s *script) assignArray(text, name string, a *syntax.Assign) (known bool) {
	before := s.known[name]
	if known = s.known.setArray(name, a); known || before.Kind == expand.Associative {
		return known
	}
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

// setArray is set for an array, or for what is appended to one.
func (v variables) setArray(name string, a *syntax.Assign) (known bool) {
	if v[name].Kind == expand.Associative {
		return v.setNames(name, a)
	}
	var list []string
	if before, ok := v[name]; a.Append && (before.Kind == expand.Indexed || !ok) {
		list = slices.Clone(before.List)
	} else if a.Append {
		v.forget(name)
		return false
	}
	assumed := v[name].assumed
	for _, e := range a.Array.Elems {
		words, ok := v.fields(e.Value)
		if !ok || e.Index != nil || len(list)+len(words) > mostItems {
			v.forget(name)
			return false
		}
		list, assumed = append(list, words...), assumed || v.assumes(e.Value)
	}
	v.setList(name, list)
	v.assume(name, assumed)
	return true
}

// setNames is setArray for an array with names.
func (v variables) setNames(name string, a *syntax.Assign) (known bool) {
	before := v[name]
	of, assumed := map[string]string{}, before.assumed
	if a.Append {
		maps.Copy(of, before.Map)
	}
	for _, e := range a.Array.Elems {
		index, isWord := e.Index.(*syntax.Word)
		key, ok := "", isWord
		if ok {
			key, ok = v.value(index)
		}
		text, also := v.value(e.Value)
		if !ok || !also || len(of) >= mostItems || len(text) > mostValue {
			v.forget(name)
			return false
		}
		of[key], assumed = text, assumed || v.assumes(e.Value)
	}
	v.setNamed(name, of)
	v.assume(name, assumed)
	return true
}

// setElement keeps the value of an element. A list grows by one at its end alone.
func (v variables) setElement(name string, a *syntax.Assign) (known bool) {
	before := v[name]
	text, known := v.value(a.Value)
	index, isWord := a.Index.(*syntax.Word)
	if known = known && isWord && !a.Append && len(text) <= mostValue && a.Value != nil; !known {
		v.forget(name)
		return false
	}
	assumed := before.assumed || v.assumes(a.Value)
	if before.Kind == expand.Associative {
		key, ok := v.value(index)
		if known = ok && len(before.Map) < mostItems; known {
			of := map[string]string{key: text}
			for other, value := range before.Map {
				if other != key {
					of[other] = value
				}
			}
			v.setNamed(name, of)
		}
	} else {
		i, ok := v.number(index, false)
		list := slices.Clone(before.List)
		declared := before.Kind == expand.Indexed || before.Kind == expand.Unknown && !v.unknown(name)
		known = ok && declared && i >= 0 && i <= int64(len(list)) && i < mostItems
		switch {
		case !known:
		case i == int64(len(list)):
			v.setList(name, append(list, text))
		default:
			list[i] = text
			v.setList(name, list)
		}
	}
	if !known {
		v.forget(name)
		return false
	}
	v.assume(name, assumed)
	return true
}
