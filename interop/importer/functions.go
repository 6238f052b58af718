package importer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// function is one of a script.
type function struct {
	decl    *syntax.FuncDecl
	text    string // that decl is in
	several bool   // it is defined more than once
	named   bool   // a command calls it by name
	called  bool   // its body was read
	defined bool   // the script came to its definition

	elsewhere bool // the script reads it from another file
	exported  bool // a shell that a command starts has it
}

// jump is how a command leaves what is around it.
type jump int

const (
	onward jump = iota
	breaks
	continues
	returns
	exits
)

var jumps = map[string]jump{"break": breaks, "continue": continues, "return": returns, "exit": exits}

// define keeps the functions of a text.
func (s *script) define(text string, f *syntax.File) {
	if s.functions == nil {
		s.functions, s.ofFunctions, s.several = map[string]*function{}, variables{}, map[string]*function{}
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		if n, ok := n.(*syntax.FuncDecl); ok && n.Name != nil {
			_, several := s.functions[n.Name.Value]
			f := &function{decl: n, text: text, several: several}
			s.functions[n.Name.Value], s.known[functionEntry(n.Name.Value)] = f, variable{function: f}
			if several {
				s.several[n.Name.Value] = f
			}
		}
		return true
	})
	syntax.Walk(f, func(n syntax.Node) bool {
		if n, ok := n.(*syntax.CallExpr); ok && len(n.Args) > 0 {
			if f := s.functions[n.Args[0].Lit()]; f != nil {
				f.named = true
			}
		}
		return true
	})
}

// redefine reads a definition of a function that has several: it is the one that later commands call, or one of them.
func (s *script) redefine(text string, n *syntax.FuncDecl, depth int) error {
	name := n.Name.Value
	of, has := s.several[name]
	if f := s.functions[name]; !has && f != nil {
		f.defined = true
	}
	if !has {
		return nil
	}
	if s.unsure > s.unsureShell {
		s.functions[name], s.known[functionEntry(name)] = of, variable{function: of}
		return s.body(of, n, depth)
	}
	f := &function{decl: n, text: text, named: true, defined: true, exported: of.exported}
	s.functions[name], s.known[functionEntry(name)] = f, variable{function: f}
	return nil
}

// readUncalled reads the functions that no command calls by name, as one that the script's arguments name.
func (s *script) readUncalled(f *syntax.File, depth int) (err error) {
	syntax.Walk(f, func(n syntax.Node) bool {
		if n, ok := n.(*syntax.FuncDecl); ok && err == nil {
			of := s.functions[n.Name.Value]
			if of != nil && of.decl == n && !of.several && !of.named && !of.called {
				err = s.body(of, n, depth)
			}
		}
		return err == nil
	})
	return err
}

// body reads the body of a function without a known call. Its arguments and variables are not known.
func (s *script) body(f *function, n *syntax.FuncDecl, depth int) error {
	f.called = true
	s.ofFunctions.forgetIn(n.Body)
	return s.maybe(n, func() error {
		s.known = elsewhere()
		return s.within(func() error { return s.walk(f.text, n.Body, depth) })
	})
}

// within reads the body of a function. What its loops and returns leave is the body.
func (s *script) within(body func() error) error {
	loop, function, outer, loops := s.unsureLoop, s.unsureFunction, s.locals, s.depth
	s.unsureLoop, s.unsureFunction, s.depth = outside, s.unsure, 0
	s.locals = append(slices.Clone(outer), map[string]func(variables){})
	err := body()
	for _, restore := range s.locals[len(s.locals)-1] {
		restore(s.known)
	}
	s.unsureLoop, s.unsureFunction, s.locals, s.depth = loop, function, outer, loops
	if s.jump != exits {
		s.jump = onward
	}
	return err
}

// outside is the value of unsureLoop outside of loops.
const outside = -1

// keepLocal keeps the value that a variable has outside of the function that declares it.
func (s *script) keepLocal(name string) {
	if len(s.locals) == 0 {
		return
	}
	if own := s.locals[len(s.locals)-1]; own[name] == nil {
		own[name] = s.known.keep([]string{name})
	}
}

// mostCalls is how deep calls of functions are followed.
const mostCalls = 16

// builtin reads a command that changes what the shell reads next: a function, a jump, eval. It is done if nothing
// else reads the command.
func (s *script) builtin(text string, n *syntax.CallExpr, depth int) (done bool, err error) {
	name := n.Args[0].Lit()
	if f := s.functions[name]; f != nil {
		return s.callFunction(text, f, n, depth)
	}
	switch name {
	case "break", "continue", "return", "exit":
		s.leave(jumps[name], n)
	case "shift":
		by := "1"
		if len(n.Args) > 1 {
			by, _ = s.known.value(n.Args[1])
		}
		s.known.shift(by)
		return true, nil
	case "set":
		s.set(text, n)
	case "unset":
		for _, w := range n.Args[1:] {
			s.dropExported(w.Lit())
			s.marked = slices.DeleteFunc(slices.Clone(s.marked), func(name string) bool { return name == w.Lit() })
		}
		if s.known.setBy(&syntax.Stmt{Cmd: n}, input{}, false) {
			s.tellCommand(text, n, measuresNothing)
			return true, nil
		}
	case "wait":
		s.wait(n)
	case "sleep":
		if len(n.Args) > 1 {
			s.sleeps = append(s.sleeps, slept{s.shell, s.word(text, n.Args[1]), s.branches, n})
		}
	case "eval":
		return s.evaluate(text, n, depth)
	case "xargs":
		if given, known, _ := s.givenTo(n); known {
			return true, s.xargs(text, n, given, depth)
		}
	case "read", "mapfile", "readarray", "getopts":
		if s.sets(n) {
			s.tellCommand(text, n, laterLines)
			return true, nil
		}
	case "printf":
		if s.printInto(text, n) {
			s.tellCommand(text, n, laterLines)
			return true, nil
		}
	case "parallel":
		return s.parallel(text, n, depth)
	case "source", ".":
		return s.source(text, n, depth)
	}
	return false, nil
}

// leave jumps, if the command certainly runs.
func (s *script) leave(to jump, n *syntax.CallExpr) {
	switch {
	case to == exits && s.unsure == s.unsureShell,
		to == returns && len(s.locals) > 0 && s.unsure == s.unsureFunction:
		s.leaving = to
	case (to == breaks || to == continues) && s.unsure == s.unsureLoop:
		count := "1"
		if len(n.Args) > 1 {
			count, _ = s.known.value(n.Args[1])
		}
		if by, err := strconv.Atoi(count); err == nil && by > 0 {
			s.leaving, s.levels = to, min(by, s.depth)
		}
	}
}

// set reads what set changes: the arguments of the script, and whether all variables are exported.
func (s *script) set(text string, n *syntax.CallExpr) {
	for i, w := range n.Args[1:] {
		switch lit := w.Lit(); {
		case lit == "-a" || lit == "+a":
			s.exportsAll = lit == "-a"
		case lit == "allexport" && i > 0:
			s.exportsAll = n.Args[i].Lit() == "-o"
		case lit == "--", lit == "", lit[0] != '-' && lit[0] != '+' && i == 0:
			at := i + 1
			if lit == "--" {
				at++
			}
			s.known.setArguments(s.passed(text, n.Args[at:]))
			return
		}
	}
}

// passed returns the arguments that words give; nil if their number is not known.
func (s *script) passed(text string, args []*syntax.Word) []variable {
	list := []variable{}
	for _, w := range args {
		assumed := s.known.assumes(w)
		fields, ok := s.known.split(w, true)
		if ok {
			for _, f := range fields {
				known := variable{Variable: expand.Variable{Set: true, Kind: expand.String, Str: f}}
				known.assumed = assumed
				list = append(list, known)
			}
			continue
		}
		written := s.partly(text, w)
		if strings.Contains(written, "$@") || strings.Contains(written, "$*") || strings.Contains(written, "[@]") ||
			strings.Contains(written, "[*]") {
			return nil
		}
		if m := shellVariable().FindString(written); m != written { // a text that only the shell knows
			written = ""
		}
		list = append(list, variable{written: written})
	}
	if len(list) > mostArguments {
		return nil
	}
	return list
}

// callFunction reads the body of a function where a command calls it, with its arguments.
func (s *script) callFunction(text string, f *function, n *syntax.CallExpr, depth int) (done bool, err error) {
	switch name := n.Args[0].Lit(); {
	case f.several:
		maps.Copy(s.known, s.ofFunctions)
		s.tellCommand(text, n, "calls function "+name+", which the script defines more than once")
		return true, nil
	case s.calls >= mostCalls:
		s.known.forgetIn(f.decl.Body)
		s.tellCommand(text, n, "nothing: calls of functions are nested too deeply")
		return true, nil
	case f.elsewhere:
		s.tellCommand(text, n, "calls function "+name+" of a file that the script reads")
	default:
		s.tellCommand(text, n, fmt.Sprintf("calls function %s of line %d", name, f.decl.Pos().Line()))
	}
	if f.text == text && !f.elsewhere && !f.defined && len(s.locals) == 0 && f.decl.Pos().After(n.Pos()) {
		s.lose("line %d calls function %s before line %d defines it: a shell finds no such command, and the scenario has "+
			"its commands", s.lineOf(n), n.Args[0].Lit(), f.decl.Pos().Line())
	}
	given := s.passed(text, n.Args[1:])
	exported, restore := s.exported, s.known.keep(argumentNames())
	f.called = true
	s.known.setArguments(given)
	var own []string // variables of the call alone
	for _, a := range n.Assigns {
		if a.Name != nil && !a.Naked && a.Array == nil {
			own = append(own, a.Name.Value)
		}
	}
	restoreOwn := s.known.keep(own)
	for _, a := range n.Assigns {
		s.assign(text, a)
	}
	for _, name := range own {
		v := "$" + name
		if known := s.known[name]; known.Kind == expand.String {
			v = known.Str
		}
		s.dropExported(name)
		s.exported = append(s.exported, Variable{Name: name, Value: v})
	}
	mine := s.exported
	s.calls++
	body := func() error { return s.walk(f.text, f.decl.Body, depth) }
	if f.elsewhere {
		of := body
		body = func() error { return s.ofFile(n, of) }
	}
	err = s.within(body)
	s.calls--
	if slices.Equal(mine, s.exported) {
		s.exported = exported
	} else {
		for _, name := range own {
			s.dropExported(name)
		}
	}
	restoreOwn(s.known)
	restore(s.known)
	return true, err
}
