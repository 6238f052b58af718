package dsl

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"weir/assertion"
	"weir/dsl/expression"
	"weir/dsl/suggest"
)

// located is a text that is an expression of its own, with what is needed to
// point into it.
type located struct {
	text     string
	at       hcl.Range // of the whole
	verbatim bool      // the file's characters from start on are the text's
	start    hcl.Pos
}

// locate reads an expression text. Inner places are true only if the text stands
// in the file as it is, without ${…}, escapes or folding.
func (l *loader) locate(expr hcl.Expression, what string) (located, bool) {
	for _, t := range expr.Variables() {
		if root := t.RootName(); root != "var" && root != "env" && root != "axis" {
			l.error(t.SourceRange(), "Not a text", what+" is a text: weir reads it after this file.", "Write the whole of it in quotes.")
			return located{}, false
		}
	}
	text, ok := l.text(expr, what)
	if !ok {
		return located{}, false
	}
	text = strings.TrimSpace(text)
	t := located{text: text, at: expr.Range()}
	t.start = t.at.Start
	inFile := string(t.at.SliceBytes(l.src))
	switch {
	case inFile == text:
		t.verbatim = true
	case len(inFile) == len(text)+2 && inFile[1:len(inFile)-1] == text:
		t.verbatim = true
		t.start.Byte++
		t.start.Column++
	}
	return t, true
}

// diagnostic gives an error of the expression its place in the file.
func (t located) diagnostic(summary string, e *expression.Error) *hcl.Diagnostic {
	detail, hint := sentence(e.Message), sentence(e.Hint)
	if !t.verbatim {
		if len(t.text) > 0 {
			detail += fmt.Sprintf(" It is at character %d of: %s", e.From+1, t.text)
		}
		return diagnostic(t.at, summary, detail, hint)
	}
	pos := func(char int) hcl.Pos {
		bytes := 0
		for n := 0; n < char && bytes < len(t.text); n++ {
			_, size := utf8.DecodeRuneInString(t.text[bytes:])
			bytes += size
		}
		return hcl.Pos{Line: t.start.Line, Column: t.start.Column + char, Byte: t.start.Byte + bytes}
	}
	return diagnostic(hcl.Range{Filename: t.at.Filename, Start: pos(e.From), End: pos(e.To)}, summary, detail, hint)
}

// sentence gives a text its capital and its full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.ContainsAny(s[len(s)-1:], ".?!") {
		s += "."
	}
	return s
}

func (l *loader) condition(expr hcl.Expression, names *expression.Names) *Condition {
	t, ok := l.locate(expr, "`when`")
	if !ok {
		return nil
	}
	c, err := names.When(t.text)
	if err != nil {
		l.diags = append(l.diags, t.diagnostic("Invalid condition", err))
		return nil
	}
	return c
}

// asserts reads the list: texts, or mappings with `that`.
func (l *loader) asserts(expr hcl.Expression, names *expression.Names) []*Assert {
	exprs, diags := hcl.ExprList(expr)
	if diags.HasErrors() {
		l.error(expr.Range(), "Not a list", "assert is a list of assertions.", "Write each as an item of its own.")
		return nil
	}
	var out []*Assert
	byName := map[string]*Assert{}
	for _, e := range exprs {
		a := l.assert(e, names)
		if a == nil {
			continue
		}
		if first := byName[a.Name]; first != nil {
			l.error(a.Range, "Duplicate assertion", fmt.Sprintf("The run already has %q, on line %d.", a.Name, first.Range.Start.Line), "Remove it, or give one of the two a name.")
			continue
		}
		byName[a.Name] = a
		out = append(out, a)
	}
	return out
}

func (l *loader) assert(expr hcl.Expression, names *expression.Names) *Assert {
	a := &Assert{Severity: assertion.Gate}
	that := expr
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() && pairs != nil {
		if that = l.longForm(expr, a); that == nil {
			return nil
		}
	}
	t, ok := l.locate(that, "An assertion")
	if !ok {
		return nil
	}
	compiled, err := names.Assertion(t.text)
	if err != nil {
		l.diags = append(l.diags, t.diagnostic("Invalid assertion", err))
		return nil
	}
	a.Text, a.Range, a.compiled, a.place = t.text, t.at, compiled, t
	if a.Name == "" {
		a.Name = t.text
	}
	return a
}

// longForm reads {that, name, severity}; nil if it has no `that`.
func (l *loader) longForm(expr hcl.Expression, a *Assert) (that hcl.Expression) {
	known := []string{"that", "name", "severity"}
	for _, e := range l.mapping(expr, "assert") {
		switch e.name {
		case "that":
			that = e.expr
		case "name":
			a.Name, _ = l.text(e.expr, "name")
		case "severity":
			text, ok := l.text(e.expr, "severity")
			a.Severity = assertion.Severity(text)
			if ok && a.Severity != assertion.Gate && a.Severity != assertion.Warn && a.Severity != assertion.Info {
				l.error(e.expr.Range(), "Invalid value", fmt.Sprintf("There is no severity %q.", text), suggest.Sentence(text, []string{"gate", "warn", "info"}, "severities"))
			}
		default:
			l.error(e.at, "Unknown key", fmt.Sprintf("There is no %q in an assertion.", e.name), suggest.Sentence(e.name, known, "keys"))
		}
	}
	if that == nil {
		l.error(expr.Range(), "Missing assertion", "The assertion says nothing.", "Add that: the assertion as a text.")
	}
	return that
}

// Matches says whether the assertion is about this case, by its where clause.
func (a *Assert) Matches(s Scope) (bool, hcl.Diagnostics) {
	where := a.compiled.Where()
	if where == nil {
		return true, nil
	}
	ok, err := where.Eval(s)
	if err != nil {
		return false, hcl.Diagnostics{diagnostic(a.Range, "Invalid condition", sentence(err.Error()), "")}
	}
	return ok, nil
}

// Lower gives the assertion for one case. The cases of a trend are the planner's
// to add.
func (a *Assert) Lower(s Scope) (assertion.Assertion, hcl.Diagnostics) {
	out, err := a.compiled.Lower(s)
	if err != nil {
		return assertion.Assertion{}, hcl.Diagnostics{a.place.diagnostic("Invalid assertion", err)}
	}
	out.Name, out.Severity = a.Name, a.Severity
	out.File, out.Line = a.Range.Filename, a.Range.Start.Line
	return out, nil
}

// TrendAxis is the axis of a trend, otherwise "".
func (a *Assert) TrendAxis() string { return a.compiled.TrendAxis() }
