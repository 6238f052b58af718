// Assertions of a run: the texts and the mappings with further keys.

package dsl

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/results/assertion"
)

// located is the text of an expression with its place in the file.
type located struct {
	text     string
	inFile   string    // the same as it is written, without quotes, and without ${ and } around all of it
	at       hcl.Range // of all of the text
	verbatim bool      // the characters of the file from start on equal the text
	start    hcl.Pos
}

// locate reads the text of an expression. Positions within it are exact only if the file has the
// text verbatim, without ${…}, escapes or folding.
func (d *decoder) locate(expr hcl.Expression, what string) (located, bool) {
	for _, t := range expr.Variables() {
		if root := t.RootName(); root != "var" && root != "env" && root != "axis" {
			d.error(t.SourceRange(), "Not a text", what+" is not a text.",
				"Write it in quotes.")
			return located{}, false
		}
	}
	text, ok := d.text(expr, what)
	if !ok {
		return located{}, false
	}
	text = strings.TrimSpace(text)
	t := located{text: text, at: expr.Range()}
	t.start = t.at.Start
	inFile := string(t.at.SliceBytes(d.src))
	switch {
	case inFile == text:
		t.verbatim = true
	case len(inFile) == len(text)+2 && inFile[1:len(inFile)-1] == text:
		t.verbatim = true
		t.start.Byte++
		t.start.Column++
	}
	t.inFile = asWritten(inFile, text)
	return t, true
}

// asWritten is the source of an expression on one line, without quotes, and without ${ and } around all of it. For a
// block of YAML, which has no known source, it is the text itself.
func asWritten(source, text string) string {
	if source == "" || strings.ContainsRune("|>", rune(source[0])) {
		return text
	}
	source = strings.Join(strings.Fields(source), " ")
	if n := len(source); n > 1 && source[0] == source[n-1] && strings.ContainsRune(`"'`, rune(source[0])) {
		source = source[1 : n-1]
	}
	if inner, is := strings.CutPrefix(source, "${"); is && !strings.Contains(inner, "${") {
		source = strings.TrimSuffix(inner, "}")
	}
	return source
}

// diagnostic places an error of the expression in the file.
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

// sentence adds a capital and a full stop.
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

// condition reads the condition of a run, and how it is written.
func (l *loader) condition(expr hcl.Expression, names *expression.Names) (c *Condition, written string) {
	t, ok := l.locate(expr, "`when`")
	if !ok {
		return nil, ""
	}
	c, err := names.When(t.text)
	if err != nil {
		l.diags = append(l.diags, invalidCondition(t, names, err)...)
		return nil, ""
	}
	return c, t.inFile
}

// invalidCondition is the error of a condition; none if a reported error about the axes of the run explains it.
func invalidCondition(t located, names *expression.Names, err *expression.Error) hcl.Diagnostics {
	if names.Partial {
		return nil
	}
	return hcl.Diagnostics{t.diagnostic("Invalid condition", err)}
}

// ofAxes reports whether an error about the axes of the run, which was reported, explains that of an assertion: it is
// in the condition.
func ofAxes(names *expression.Names, text string, err *expression.Error) bool {
	that, _, has := strings.Cut(text, " where ")
	return names.Partial && has && err.From > utf8.RuneCountInString(that)
}

// asserts reads the list of assertions: texts, or mappings with `that`. runs are the runs that the
// file sees, by the names it uses for them.
func (l *loader) asserts(expr hcl.Expression, names *expression.Names, runs map[string]*Run) []*Assert {
	var out []*Assert
	byName := map[string]*Assert{}
	exprs, _ := l.items(expr, "assert is a list of assertions.", "Write each as an item of its own.")
	for _, e := range exprs {
		a := l.assert(e, names)
		if a == nil || a.leftOut {
			continue
		}
		a.runs = runs
		if first := byName[a.Name]; first != nil {
			hint := "Remove it, or give one of the two a name."
			if a.Name != a.Text {
				hint = "Give one of the two another name."
			}
			l.error(a.Range, "Duplicate assertion", fmt.Sprintf("The run already has %q, on line %d.", a.Name,
				first.Range.Start.Line), hint)
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
		refused := func(metric string) bool { return strings.Contains(t.text, metric) }
		if !ofAxes(names, t.text, err) && !slices.ContainsFunc(names.Refused, refused) && // else reported at the metric
			(!l.incomplete || !strings.Contains(t.text, "run(")) && // else reported at the run
			(!l.unread || !strings.Contains(t.text, "reference.")) { // else reported at the references
			l.diags = append(l.diags, t.diagnostic("Invalid assertion", err))
		}
		return nil
	}
	numeric := a.Halo > 0 || a.Multiple != "" || a.Decide != nil || a.XFail != nil && a.XFail.Ceiling > 0
	if compiled.Stated() && numeric {
		l.error(t.at, "Invalid assertion",
			"A transport or provider is not a number, so halo, multiple, decide and the ceiling of xfail have no effect.",
			"Remove them.")
		return nil
	}
	for _, doubt := range compiled.Doubts() {
		d := t.diagnostic("Percentage without a unit", doubt)
		d.Severity = hcl.DiagWarning
		l.diags = append(l.diags, d)
	}
	a.Text, a.Range, a.compiled, a.place = t.text, t.at, compiled, t
	if a.Name == "" {
		a.Name = t.text
	}
	return a
}

// longForm reads the keys beside `that`; it returns nil if `that` is missing, which it reports.
func (l *loader) longForm(expr hcl.Expression, a *Assert) (that hcl.Expression) {
	p := l.record(expr, schemaOf(grammar.Assert), "an assertion")
	if e := argument(p.BodyContent, "name"); e != nil {
		a.Name = l.name(e)
	}
	l.fill(p, grammar.Assert, a)
	if e := argument(p.BodyContent, "when"); e != nil {
		a.leftOut = !l.flag(e, "when")
	}
	if a.Multiple == "none" {
		a.Multiple = ""
	}
	if e := argument(p.BodyContent, "decide"); e != nil {
		var d assertion.Decide
		l.fill(l.record(e, schemaOf(grammar.Decide), "decide"), grammar.Decide, &d)
		if d != (assertion.Decide{}) {
			a.Decide = &d
		}
	}
	if e := argument(p.BodyContent, "xfail"); e != nil {
		x, p, before := &assertion.XFail{}, l.record(e, schemaOf(grammar.XFail), "xfail"), len(l.diags)
		if l.fill(p, grammar.XFail, x); l.complete(p, grammar.XFail, "xfail") {
			l.checkExpectation(p, x, "xfail", "This failure was", len(l.diags) == before)
			a.XFail = x
		}
	}
	if that = argument(p.BodyContent, "that"); that == nil && !l.faulty[p.BodyContent] {
		l.error(expr.Range(), "Missing assertion", "The assertion has no that.", "Add that: the assertion as a text.")
	}
	return that
}

// checkExpectation checks the reason and the last day of a known failure; whole says that both are
// texts. A day in the past is only a warning, so that the same file always gives the same plan; the
// gate ignores such an expectation.
func (l *loader) checkExpectation(p part, x *assertion.XFail, of, what string, whole bool) {
	x.Reason = strings.TrimSpace(x.Reason)
	if whole && x.Reason == "" {
		l.error(argument(p.BodyContent, "reason").Range(), "Invalid value", "The reason is empty.",
			"Write a reason; reports show it.")
	}
	if x.Until == "" && !whole {
		return
	}
	at := argument(p.BodyContent, "until").Range()
	if _, err := time.Parse(time.DateOnly, x.Until); err != nil {
		l.error(at, "Invalid value", fmt.Sprintf("%q is not a date.", x.Until),
			"Write the last day on which it holds, as 2006-01-31.")
	} else if x.Until < l.all.options.Today {
		l.warn(at, "Expired expectation",
			fmt.Sprintf("%s expected until %s only; a miss fails the session now.", what, x.Until),
			fmt.Sprintf("Fix the cause and remove %s, or set a later day.", of))
	}
}
