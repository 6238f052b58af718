package importer

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// declare reads export, declare, local and readonly.
func (s *script) declare(text string, n *syntax.DeclClause) {
	exports, named := n.Variant.Value == "export", false
	integer, changed, refers := false, false, false
	for _, a := range n.Args {
		switch flags := litOf(a.Value); {
		case a.Name == nil && len(flags) > 1 && flags[0] == '-':
			for _, letter := range flags {
				exports, named = exports || letter == 'x', named || letter == 'A'
				integer, changed = integer || letter == 'i', changed || strings.ContainsRune("luc", letter)
				refers = refers || letter == 'n' && n.Variant.Value != "export"
				if letter == 'f' && (exports || strings.Contains(flags, "x")) {
					s.exportFunctions(n.Args)
				}
				if letter == 'n' && n.Variant.Value == "export" || letter == 'f' || letter == 'p' {
					return
				}
			}
		case a.Name != nil && n.Variant.Value != "export" && n.Variant.Value != "readonly":
			s.keepLocal(a.Name.Value)
		}
		if named && a.Name != nil && (a.Array != nil && !a.Append || s.known[a.Name.Value].Kind != expand.Associative) {
			s.known.setNamed(a.Name.Value, nil)
		}
		if integer && a.Name != nil {
			known := s.known[a.Name.Value]
			known.integer = true
			s.known[a.Name.Value] = known
		}
		if to, ok := s.known.value(a.Value); refers && a.Name != nil {
			s.known.forget(a.Name.Value)
			if ok && syntax.ValidName(to) && to != a.Name.Value && s.known[to].Kind != expand.NameRef {
				s.known[a.Name.Value] = variable{Variable: expand.Variable{Set: true, Kind: expand.NameRef, Str: to}}
			}
			continue
		}
		if s.assign(text, a); a.Name != nil && (changed || integer && a.Array != nil) { // which is not followed
			s.known.forget(a.Name.Value)
		}
	}
	if exports {
		s.export(text, n.Args)
		s.tell(n, text[n.Pos().Offset():n.End().Offset()], laterLines)
	}
}

// exportFunctions keeps that a shell which a command starts has functions.
func (s *script) exportFunctions(all []*syntax.Assign) {
	for _, a := range all {
		if a.Name != nil && s.functions[a.Name.Value] != nil {
			s.functions[a.Name.Value].exported = true
		}
	}
}

// assign keeps the value of an assignment, if it is known. An exported variable has it for later commands.
func (s *script) assign(text string, a *syntax.Assign) (known bool) {
	if a.Name == nil || a.Naked {
		return false
	}
	name := a.Name.Value
	if of := s.known[name]; of.Kind == expand.NameRef { // which is not followed
		s.known.forget(of.Str)
		return false
	}
	if a.Array != nil {
		return s.assignArray(text, name, a)
	}
	if a.Index != nil {
		return s.assignElement(name, a)
	}
	s.keepMoment(a)
	assumed := a.Value != nil && s.known.assumes(a.Value)
	v, known := s.known.text(a.Value, true)
	known = known && name != clock
	before := s.known[name]
	if known && a.Append {
		known = before.Kind == expand.String
		assumed = assumed || before.assumed
		if before.integer {
			v = "+(" + v + ")"
		}
		v = before.Str + v
	}
	if known && before.integer {
		v, known = s.known.calculatedText(v)
	}
	written := s.known.writtenPart(onlyPart(a.Value))
	s.known.set(name, v, known)
	if at := s.known[name]; at.Set {
		s.known.assume(name, assumed)
	} else if written != "" {
		s.known[name] = variable{written: written}
	}
	if s.exportsAll || s.exports(name) {
		s.export(text, []*syntax.Assign{a})
	}
	return known
}

// writtenPart returns how the caller of a function writes the argument that a part of a word is.
func (v variables) writtenPart(part syntax.WordPart) string {
	p, ok := part.(*syntax.ParamExp)
	if !ok || !isPlain(p) || p.Index != nil {
		return ""
	}
	return v[p.Param.Value].written
}

// export keeps variables for later calls; one without a plain value is removed.
func (s *script) export(text string, all []*syntax.Assign) {
	for _, a := range all {
		if a.Name == nil || a.Array != nil || a.Index != nil {
			continue
		}
		name := a.Name.Value
		v := s.word(text, a.Value)
		if a.Naked || a.Append {
			known := s.known[name]
			switch {
			case known.Kind == expand.String:
				v = known.Str
			case a.Naked && known.Kind == expand.Unknown && !s.known.unknown(name):
				s.marked = append(slices.Clone(s.marked), name)
				continue // it has no value, or that of the shell that starts the script
			default:
				v = "$" + name
			}
		}
		s.dropExported(name)
		s.notes = slices.DeleteFunc(slices.Clone(s.notes), func(n Note) bool {
			return strings.HasPrefix(n.Text, "variable "+name+": ")
		})
		if unexpanded(v) {
			s.warn(Note{"variable " + name + ofShell(v), true})
			continue
		}
		s.exported = append(s.exported, Variable{Name: name, Value: v})
	}
}

// exportKnown gives an exported variable its new value.
func (s *script) exportKnown(name string) {
	if known := s.known[name]; s.exports(name) && known.Kind == expand.String {
		s.dropExported(name)
		s.exported = append(s.exported, Variable{Name: name, Value: known.Str})
	}
}

func (s *script) exports(name string) bool {
	has := func(e Variable) bool { return e.Name == name }
	return slices.Contains(s.marked, name) || slices.ContainsFunc(s.exported, has)
}

func (s *script) dropExported(name string) {
	same := func(e Variable) bool { return e.Name == name }
	s.exported = slices.DeleteFunc(slices.Clone(s.exported), same)
}

// warn keeps a note on all later lines.
func (s *script) warn(n Note) {
	if !slices.Contains(s.notes, n) {
		s.notes = append(s.notes, n)
	}
}

// assigned keeps the assignments of a command that has nothing else.
func (s *script) assigned(text string, n *syntax.CallExpr) {
	became := laterLines
	for _, a := range n.Assigns {
		if !s.assign(text, a) {
			became = "nothing: a variable of the shell"
		}
	}
	if s.any && len(n.Assigns) > 0 && n.Assigns[0].Name != nil {
		s.tell(n, n.Assigns[0].Name.Value+"=…", became)
	}
}

// litOf returns a word that is plain text.
func litOf(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	return w.Lit()
}
