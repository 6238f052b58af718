package importer

import (
	"path"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// besideScript matches the name of a file in a directory that only the shell knows, as in $(dirname "$0")/env.sh.
var besideScript = lazyregexp.New("^(?:\\$[A-Za-z_]\\w*|\\$\\{[^}]*\\}|\\$\\(.*\\)|`.*`)/([^$`]+)$")

// source reads the commands of a file that lies beside the script, or where the script says. It is done if there is one.
func (s *script) source(text string, n *syntax.CallExpr, depth int) (done bool, err error) {
	if len(n.Args) < 2 || s.calls >= mostCalls {
		return false, nil
	}
	name := s.word(text, n.Args[1])
	if file := s.written[path.Clean(name)]; file != nil {
		s.runs(name, file)
		return s.sourceText(text, n, name, file.text, depth)
	}
	if m := besideScript().FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	if name == "" || unexpanded(name) || s.read == nil {
		return false, nil
	}
	found := name
	if !path.IsAbs(name) {
		found = path.Join(path.Dir(s.file), name)
	}
	src, err := s.read(found)
	if err != nil && found != name {
		found = name
		src, err = s.read(found)
	}
	of := strings.TrimPrefix(string(src), "\ufeff")
	if err != nil || !utf8.ValidString(of) || strings.ContainsRune(of, 0) || len(of) > maxText {
		return false, nil
	}
	return s.sourceText(text, n, found, of, depth)
}

// sourceText reads the commands of a file that a script reads.
func (s *script) sourceText(text string, n *syntax.CallExpr, found, of string, depth int) (done bool, err error) {
	f, err := s.parsed(found, of)
	if err != nil {
		s.tellCommand(text, n, "nothing: "+found+" is not read: "+err.Error())
		s.known.forgetBy(n)
		return true, nil
	}
	s.tellCommand(text, n, "reads "+found)
	restore := s.known.keep(argumentNames())
	if len(n.Args) > 2 {
		s.known.setArguments(s.passed(text, n.Args[2:]))
	}
	s.calls++
	err = s.ofFile(n, func() error { return s.walkAll(of, f.Stmts, depth) })
	s.calls--
	if len(n.Args) > 2 {
		restore(s.known)
	}
	return true, err
}

// parsed returns the commands of another file, and keeps its functions when it is read first.
func (s *script) parsed(found, of string) (*syntax.File, error) {
	if f := s.sourced[found]; f != nil {
		return f, nil
	}
	f, err := parse(of)
	if err != nil {
		return nil, err
	}
	if s.sourced == nil {
		s.sourced = map[string]*syntax.File{}
	}
	s.sourced[found] = f
	s.define(of, f)
	for _, function := range s.functions {
		function.elsewhere = function.elsewhere || function.text == of
	}
	return f, nil
}

// ofFile reads commands of another file: they have the line of the command that leads there.
func (s *script) ofFile(n syntax.Node, read func() error) error {
	line := s.at
	if s.at == 0 {
		s.at = int(n.Pos().Line())
	}
	err := read()
	s.at = line
	return err
}

// lineOf returns the line of a command.
func (s *script) lineOf(n syntax.Node) int {
	if s.at > 0 {
		return s.at
	}
	return int(n.Pos().Line())
}
