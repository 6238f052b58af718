package dsl

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"weir/assertion"
	"weir/dsl/expression"
	"weir/dsl/grammar"
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
			l.error(t.SourceRange(), "Not a text", what+" is a text: weir reads it after this file.",
				"Write the whole of it in quotes.")
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
	s = capital(s)
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

// asserts reads the list: texts, or mappings with `that`. runs are those that
// the file sees, by the names that it gives them.
func (l *loader) asserts(expr hcl.Expression, names *expression.Names, runs map[string]*Run) []*Assert {
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
		a.runs = runs
		if first := byName[a.Name]; first != nil {
			l.error(a.Range, "Duplicate assertion", fmt.Sprintf("The run already has %q, on line %d.", a.Name,
				first.Range.Start.Line), "Remove it, or give one of the two a name.")
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
	if isMapping(expr) {
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
		if !l.incomplete || !strings.Contains(t.text, "run(") { // a run whose own error has been reported
			l.diags = append(l.diags, t.diagnostic("Invalid assertion", err))
		}
		return nil
	}
	if compiled.Stated() && (a.Halo > 0 || a.Multiple != "" || a.Decide != nil) {
		l.error(t.at, "Invalid assertion", "A transport or provider has no number, so halo, multiple and decide say nothing about it.",
			"Remove them.")
		return nil
	}
	a.Text, a.Range, a.compiled, a.place = t.text, t.at, compiled, t
	if a.Name == "" {
		a.Name = t.text
	}
	return a
}

// longForm reads the keys beside `that`; it is nil if there is no `that`.
func (l *loader) longForm(expr hcl.Expression, a *Assert) (that hcl.Expression) {
	p := l.record(expr, schemaOf(grammar.Assert), "an assertion")
	get := func(name string) hcl.Expression { return argument(p.BodyContent, name) }
	if e := get("name"); e != nil {
		a.Name = l.name(e)
	}
	if e := get("severity"); e != nil {
		text, _ := l.oneOf(e, grammar.Assert, "severity")
		a.Severity = assertion.Severity(text)
	}
	if e := get("halo"); e != nil {
		a.Halo = l.percent(e, "halo", 0, 1)
	}
	if e := get("multiple"); e != nil {
		if a.Multiple, _ = l.oneOf(e, grammar.Assert, "multiple"); a.Multiple == "none" {
			a.Multiple = ""
		}
	}
	if e := get("decide"); e != nil {
		a.Decide = l.decide(e)
	}
	if e := get("xfail"); e != nil {
		a.XFail = l.expectation(l.record(e, schemaOf(grammar.XFail), "xfail"), grammar.XFail, "xfail",
			"That this fails was")
	}
	if that = get("that"); that == nil {
		l.error(expr.Range(), "Missing assertion", "The assertion says nothing.", "Add that: the assertion as a text.")
	}
	return that
}

// decide reads how the assertion is decided; nil if it is as everywhere.
func (l *loader) decide(expr hcl.Expression) *assertion.Decide {
	p := l.record(expr, schemaOf(grammar.Decide), "decide")
	var d assertion.Decide
	if e := argument(p.BodyContent, "confidence"); e != nil {
		d.Confidence = l.percent(e, "confidence", 0.5, 1)
	}
	if e := argument(p.BodyContent, "on_inconclusive"); e != nil {
		d.OnInconclusive, _ = l.oneOf(e, grammar.Decide, "on_inconclusive")
	}
	if d == (assertion.Decide{}) {
		return nil
	}
	return &d
}

// expectation reads why something is known to fail, and until when that counts.
// A day that has passed is no error of the file, which gives the same plan every day:
// it is warned of, and the gate counts it no more.
func (l *loader) expectation(p part, keys []grammar.Key, of, what string) *assertion.XFail {
	if !l.complete(p, keys, of) {
		return nil
	}
	var x assertion.XFail
	reason, until := argument(p.BodyContent, "reason"), argument(p.BodyContent, "until")
	text, ok := l.text(reason, "reason")
	if x.Reason = strings.TrimSpace(text); ok && x.Reason == "" {
		l.error(reason.Range(), "Invalid value", "The reason is empty.", "Say why, for whoever reads the report.")
	}
	if x.Until, ok = l.text(until, "until"); ok {
		if _, err := time.Parse(time.DateOnly, x.Until); err != nil {
			l.error(until.Range(), "Invalid value", fmt.Sprintf("%q is no day.", x.Until),
				"Write the last day on which it counts as 2006-01-31.")
		} else if x.Until < l.all.options.Today {
			d := diagnostic(until.Range(), "Expired expectation",
				fmt.Sprintf("%s expected until %s only: from now on the session fails.", what, x.Until),
				fmt.Sprintf("Mend it and remove %s, or set a later day.", of))
			d.Severity = hcl.DiagWarning
			l.diags = append(l.diags, d)
		}
	}
	return &x
}
