package importer

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// output returns what a command prints; not known if it does anything else than compute.
func (v variables) output(n *syntax.Stmt, in input) (text string, known bool) {
	own := *n
	if from, ok := v.redirected(n.Redirs); ok {
		in = from
		own.Redirs = slices.DeleteFunc(slices.Clone(n.Redirs), isInput)
	}
	if own.Cmd == nil { // $(< FILE)
		return in.text, in.known && len(own.Redirs) == 0
	}
	o, known := v.evaluate([]*syntax.Stmt{&own}, in)
	return o.printed, known
}

// isInput reports whether a redirection gives a command what it reads.
func isInput(r *syntax.Redirect) bool {
	return (r.N == nil || r.N.Value == "0") && slices.Contains([]syntax.RedirOperator{
		syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc,
	}, r.Op)
}

// redirected returns what redirections give a command to read; not ok if they give nothing.
func (v variables) redirected(all []*syntax.Redirect) (in input, ok bool) {
	for _, r := range all {
		if !isInput(r) {
			continue
		}
		switch ok = true; r.Op {
		case syntax.WordHdoc:
			in.text, in.known = v.value(r.Word)
			in.text += "\n"
		case syntax.RdrIn:
			in = v.ofFile(r.Word)
		default:
			in.text, in.known = v.document(r)
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
	if p, ok := onlyPart(w).(*syntax.ProcSubst); ok && p.Op == syntax.CmdIn {
		var o outcome
		o, in.known = v.evaluate(p.Stmts, input{})
		in.text = o.printed
	}
	return in
}
