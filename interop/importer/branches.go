package importer

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/ordered"
)

// choice says which branches of a condition run.
type choice struct {
	known   bool
	assumed bool // they follow from a default, which a caller of the script may change
	visible bool // the script itself has the default from which it follows
	arms    []int
}

// branches are those of a condition.
type branches struct {
	at    syntax.Node
	of    syntax.Node // what chooses
	line  int
	tests bool // the branches run, or not, by a test
	arms  []func() error
	parts []syntax.Node // the commands of each
}

// branch reads the branches that run: those of the script's default if it has one, and all if that is not known.
func (s *script) branch(text string, b branches, c choice) error {
	if !c.known || c.assumed && !(c.visible && s.takesDefault(text, b, c.arms)) {
		return s.undecided(b, c)
	}
	defaults := s.known.defaultsIn(b.of)
	for _, i := range c.arms {
		if err := b.arms[i](); err != nil || s.jump != onward {
			return err
		}
	}
	if !c.assumed {
		return nil
	}
	changed := maps.Clone(s.known)
	changed.forgetIn(b.at)
	for name, v := range s.known {
		if v.Set && !changed[name].Set {
			s.known.assume(name, true)
		}
	}
	for i, part := range b.parts {
		if !slices.Contains(c.arms, i) && s.finds(text, part, mostCalls, s.runsTool) {
			s.lose("line %d runs only with another value of %s than the script's default, and the scenario does not have it: "+
				"write that value into the script", s.lineOf(part), strings.Join(defaults, ", "))
		}
	}
	return nil
}

// takesDefault reports whether a default leads to what the script measures, not to its end, or to a text that says how
// to call it.
func (s *script) takesDefault(text string, b branches, chosen []int) bool {
	others, runs := 0, false
	for i, part := range b.parts {
		has := s.finds(text, part, mostCalls, s.runsTool)
		if !slices.Contains(chosen, i) {
			if has {
				others++
			}
			continue
		}
		runs = runs || has
		if s.finds(text, part, mostCalls, endsScript) || s.finds(text, part, mostCalls, s.runsServer) {
			return false
		}
	}
	return runs || others < 2
}

// blockOf is a command of statements, at the place of the first one.
func blockOf(all []*syntax.Stmt) *syntax.Block {
	b := &syntax.Block{Stmts: all}
	if len(all) > 0 {
		b.Lbrace = all[0].Pos()
	}
	return b
}

// finds reports whether commands, or functions that they call, have a call that is searched.
func (s *script) finds(text string, top syntax.Node, depth int, has func(string, *syntax.CallExpr) bool) (found bool) {
	if top == nil {
		return false
	}
	syntax.Walk(top, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 && !found {
			f := s.functions[call.Args[0].Lit()]
			found = has(text, call) || f != nil && depth > 0 && s.finds(f.text, f.decl.Body, depth-1, has)
		}
		return !found
	})
	return found
}

// runsTool reports whether a command is of a tool.
func (s *script) runsTool(text string, call *syntax.CallExpr) bool {
	words := asWritten(text, call)
	if inner, _ := textArgument(words); s.mentioned(inner.text) {
		return true
	}
	t, at, taken := s.find(words)
	return t != nil && (&Line{tool: t, args: words[at+taken:]}).measuresNot() == ""
}

// runsServer reports whether a command is one side of a test, and another host runs the other one.
func (s *script) runsServer(text string, call *syntax.CallExpr) bool {
	words := asWritten(text, call)
	t, at, taken := s.find(words)
	if t == nil {
		return false
	}
	return errors.Is(t.readAlone(Line{path: words[at], args: words[at+taken:]}, Options{}), errServer)
}

// asWritten returns the words of a command as the script has them.
func asWritten(text string, call *syntax.CallExpr) (words []string) {
	for _, w := range call.Args {
		words = append(words, word(text, w))
	}
	return words
}

func endsScript(_ string, call *syntax.CallExpr) bool { return call.Args[0].Lit() == "exit" }

// undecided reads all branches, and tells of what they measure.
func (s *script) undecided(b branches, c choice) error {
	before := maps.Clone(s.known)
	with := make([][]string, len(b.arms))
	arms := slices.Clone(b.arms)
	for i, arm := range b.arms {
		arms[i] = func() error {
			from := len(s.lines)
			err := arm()
			for _, l := range s.lines[min(from, len(s.lines)):] {
				with[i] = ordered.Append(with[i], strconv.Itoa(l.fate.Line))
			}
			return err
		}
	}
	if err := s.maybe(b.at, arms...); err != nil {
		return err
	}
	with = slices.DeleteFunc(with, func(lines []string) bool { return lines == nil })
	switch all := slices.Concat(with...); {
	case len(with) == 0 || !b.tests:
	case len(with) == 1:
		s.lose("line %s runs only if the condition of line %d holds, which only the shell knows: the scenario has it",
			strings.Join(all, ", "), b.line)
	default:
		s.lose("lines %s are in branches of line %d, and only the shell knows which branch runs: the scenario has all",
			strings.Join(all, ", "), b.line)
	}
	switch {
	case !c.known:
	case len(c.arms) == 1:
		s.adopt(s.after[c.arms[0]])
	case len(c.arms) == 0:
		s.adopt(before)
	}
	return nil
}
