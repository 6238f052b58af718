package importer

import (
	"maps"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// What commands of a script print, if they only make texts of known values: echo, seq, filters, functions of these.

// input is what a command reads.
type input struct {
	text  string
	known bool
}

// nested is the entry of how deep commands within words are evaluated, and how many were.
const nested = "()"

// Limits of that: each level evaluates the next twice.
const (
	mostNested    = 6
	mostEvaluated = 1 << 15
)

// evaluates counts a command that is evaluated; not ok if they are too many.
func (v variables) evaluates() (ok bool) {
	known := v[nested]
	if known.evaluated == nil {
		known.evaluated = new(int)
		v[nested] = known
	}
	*known.evaluated++
	return *known.evaluated <= mostEvaluated
}

// inWords returns variables for a shell of its own within words; not ok if it is nested too deeply.
func (v variables) inWords() (own variables, ok bool) {
	ok = v.evaluates()
	own = maps.Clone(v)
	known := v[nested]
	known.nested++
	own[nested] = known
	return own, ok && known.nested <= mostNested
}

// substituted returns what a command substitution prints.
func (v variables) substituted(n *syntax.CmdSubst) (text string, known bool) {
	own, ok := v.inWords()
	if !ok || n.TempFile || n.ReplyVar {
		return "", false
	}
	return own.outputs(n.Stmts, input{})
}

// outputs is output for commands one after another, which may assign variables.
func (v variables) outputs(all []*syntax.Stmt, in input) (text string, known bool) {
	for _, n := range all {
		if call, ok := n.Cmd.(*syntax.CallExpr); ok && len(call.Args) == 0 && len(n.Redirs) == 0 {
			if !v.assigns(call.Assigns) {
				return "", false
			}
			continue
		}
		if d, ok := n.Cmd.(*syntax.DeclClause); ok && d.Variant.Value == "local" {
			if !v.assigns(d.Args) {
				return "", false
			}
			continue
		}
		more, ok := v.output(n, in)
		if !ok || len(text) > mostValue {
			return "", false
		}
		text += more
	}
	return text, true
}

// assigns sets plain variables; not ok if anything is not known.
func (v variables) assigns(all []*syntax.Assign) (ok bool) {
	for _, a := range all {
		text, known := v.value(a.Value)
		plain := a.Name != nil && !a.Naked && !a.Append && a.Array == nil && a.Index == nil
		if !plain || !known || v[a.Name.Value].integer {
			return false
		}
		v.set(a.Name.Value, text, true)
	}
	return true
}

// output returns what a command prints; not known if it does anything else.
func (v variables) output(n *syntax.Stmt, in input) (text string, known bool) {
	if !v.evaluates() || n.Background || n.Coprocess || n.Negated || !v.onlyReads(n.Redirs) {
		return "", false
	}
	if from, ok := v.redirected(n.Redirs); ok {
		in = from
	}
	switch n := n.Cmd.(type) {
	case nil: // $(< FILE)
		return in.text, in.known
	case *syntax.CallExpr:
		return v.prints(n, in)
	case *syntax.BinaryCmd:
		if n.Op != syntax.Pipe {
			return "", false
		}
		in.text, in.known = v.output(n.X, in)
		return v.output(n.Y, in)
	case *syntax.Block:
		return maps.Clone(v).outputs(n.Stmts, in)
	case *syntax.Subshell:
		return maps.Clone(v).outputs(n.Stmts, in)
	case *syntax.ForClause:
		return v.ofLoop(n, in)
	}
	return "", false
}

// ofLoop is output for a loop over known words.
func (v variables) ofLoop(n *syntax.ForClause, in input) (text string, known bool) {
	iter, ok := n.Loop.(*syntax.WordIter)
	if !ok || n.Select || !iter.InPos.IsValid() {
		return "", false
	}
	own := maps.Clone(v)
	words, ok := v.allFields(iter.Items)
	for _, w := range words {
		own.set(iter.Name.Value, w, true)
		more, known := own.outputs(n.Do, in)
		if ok = ok && known && len(text) <= mostValue; !ok {
			break
		}
		text += more
	}
	return text, ok
}

// allFields is fields for several words.
func (v variables) allFields(all []*syntax.Word) (words []string, ok bool) {
	for _, w := range all {
		fields, ok := v.fields(w)
		if words = append(words, fields...); !ok || len(words) > mostItems {
			return nil, false
		}
	}
	return words, true
}

// onlyReads reports whether redirections leave what a command prints where it is.
func (v variables) onlyReads(all []*syntax.Redirect) bool {
	for _, r := range all {
		switch {
		case r.Op == syntax.RdrIn, r.Op == syntax.Hdoc, r.Op == syntax.DashHdoc, r.Op == syntax.WordHdoc:
		case r.Op == syntax.RdrOut && r.N != nil && r.N.Value == "2":
		default:
			return false
		}
	}
	return true
}

// redirected returns what redirections give a command to read; not ok if they give nothing.
func (v variables) redirected(all []*syntax.Redirect) (in input, ok bool) {
	for _, r := range all {
		if r.N != nil && r.N.Value != "0" {
			continue
		}
		switch r.Op {
		case syntax.WordHdoc:
			text, known := v.value(r.Word)
			in, ok = input{text + "\n", known}, true
		case syntax.Hdoc, syntax.DashHdoc:
			text, known := v.document(r)
			in, ok = input{text, known}, true
		case syntax.RdrIn:
			in, ok = v.ofFile(r.Word), true
		}
	}
	return in, ok
}

// ofFile is what a command reads from a file that the script writes, or that is another command: < <(…).
func (v variables) ofFile(w *syntax.Word) (in input) {
	if name, ok := v.value(w); ok && w != nil {
		in.text, in.known = v.fileText(name)
		return in
	}
	if w == nil || len(w.Parts) != 1 {
		return input{}
	}
	p, is := w.Parts[0].(*syntax.ProcSubst)
	if own, ok := v.inWords(); ok && is && p.Op == syntax.CmdIn {
		in.text, in.known = own.outputs(p.Stmts, input{})
	}
	return in
}

// prints is output for a simple command.
func (v variables) prints(n *syntax.CallExpr, in input) (text string, known bool) {
	words, ok := v.allFields(n.Args)
	if !ok || len(words) == 0 || len(n.Assigns) > 0 {
		return "", false
	}
	name, args := words[0], words[1:]
	if f := v[functionEntry(name)].function; f != nil {
		return v.ofFunction(f, args, in)
	}
	if filter := filters[name]; filter != nil && !readsFile(name, args) {
		if !in.known {
			return "", false
		}
		return filter(args, in.text)
	}
	switch name {
	case "cat":
		return v.fileTexts(args)
	case "echo":
		return echoed(args)
	case "printf":
		return formatted(args)
	case "seq":
		return counted(args)
	case "bc":
		text, known = v.calculatedText(strings.TrimSuffix(in.text, "\n"))
		return text + "\n", known && in.known && len(args) == 0 && strings.Trim(in.text, "0123456789+-*/%() \n") == ""
	case "expr":
		text, known = v.calculatedText(strings.Join(args, " "))
		return text + "\n", known && onlyCalculates(args)
	case "which", "command", "type":
		if len(args) > 1 && (args[0] == "-v" && name == "command" || args[0] == "-P" && name == "type") {
			args = args[1:]
		}
		return strings.Join(args, "") + "\n", len(args) == 1 && !strings.HasPrefix(args[0], "-")
	case "true", ":":
		return "", true
	}
	return "", false
}

// functionEntry is the entry of a function.
func functionEntry(name string) string { return name + nested }

// ofFunction is output for a call of a function.
func (v variables) ofFunction(f *function, args []string, in input) (text string, known bool) {
	own, ok := v.inWords()
	body, isBlock := f.decl.Body.Cmd.(*syntax.Block)
	if !ok || !isBlock || f.several || len(args) > mostArguments {
		return "", false
	}
	given := []variable{}
	for _, a := range args {
		given = append(given, variable{Variable: expand.Variable{Set: true, Kind: expand.String, Str: a}})
	}
	own.setArguments(given)
	return own.outputs(body.Stmts, in)
}

// onlyCalculates reports whether words of expr are numbers and operators that arithmetic has too.
func onlyCalculates(args []string) bool {
	for _, a := range args {
		if _, err := strconv.ParseInt(a, 10, 64); err != nil && !strings.Contains(" + - * / % ( ) ", " "+a+" ") {
			return false
		}
	}
	return len(args) > 0
}
