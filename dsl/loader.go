// The loader of one file, and helpers for diagnostics.

package dsl

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// loader decodes one file and evaluates its expressions.
type loader struct {
	*decoder
	eval *evaluator

	all  *loading
	root hooks // commands of the scenario itself
	// services are those of the file. Each run that uses them evaluates them at its points.
	services     []entry
	usedServices map[string]bool // by name: a run of the file uses it
	variants     *variants       // nil: the file has none
	declared     []*declared
	// within is the run being read. Whether it sweeps variants is known only later; waiting has the
	// errors that apply if it does.
	within  *Run
	waiting hcl.Diagnostics
	prefix  string // prefix of its variables in --var: "" or "as."
	// incomplete says that runs are missing because of reported errors, so that uses of them are
	// not reported as well.
	incomplete bool
	// unread says that the references cannot be read, which is reported.
	unread bool
}

func newLoader(g *loading, path string, src []byte, diags hcl.Diagnostics, e *evaluator) *loader {
	l := &loader{all: g, eval: e, usedServices: map[string]bool{}}
	l.decoder = &decoder{file: path, src: src, yaml: !isHCL(path), diags: diags, places: &places{}, evaluate: l.value}
	return l
}

// Hint is the advice of a diagnostic, kept apart from its detail.
type Hint string

func diagnostic(at hcl.Range, summary, detail, hint string) *hcl.Diagnostic {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at}
	if hint != "" {
		d.Extra = Hint(hint)
	}
	return d
}

func warning(at hcl.Range, summary, detail, hint string) *hcl.Diagnostic {
	d := diagnostic(at, summary, detail, hint)
	d.Severity = hcl.DiagWarning
	return d
}

// inOrder sorts by file, the main one first, then by place, and drops duplicates.
func inOrder(diags hcl.Diagnostics, files []string) hcl.Diagnostics {
	order := map[string]int{}
	for i, f := range files {
		if _, ok := order[f]; !ok {
			order[f] = i
		}
	}
	compare := func(a, b *hcl.Diagnostic) int {
		fileA, startA := placeOf(a, order)
		fileB, startB := placeOf(b, order)
		return cmp.Or(cmp.Compare(fileA, fileB), cmp.Compare(startA, startB))
	}
	slices.SortStableFunc(diags, compare)
	return slices.CompactFunc(diags, func(a, b *hcl.Diagnostic) bool {
		return compare(a, b) == 0 && a.Summary == b.Summary && a.Detail == b.Detail
	})
}

// placeOf returns the sort key of a diagnostic; those without a place come first.
func placeOf(d *hcl.Diagnostic, order map[string]int) (file, start int) {
	if d.Subject == nil {
		return 0, -1
	}
	return order[d.Subject.Filename], d.Subject.Start.Byte
}

func quote(s string) string { return `"` + s + `"` }

// places finds the run, check or variable at an offset of the file. It is the Nav of the hcl.File,
// so that both syntaxes give the same context.
type places struct{ marks []mark }

type mark struct {
	from int
	name string
}

func (p *places) add(at hcl.Range, name string) {
	i, _ := slices.BinarySearchFunc(p.marks, at.Start.Byte+1,
		func(m mark, from int) int { return cmp.Compare(m.from, from) })
	p.marks = slices.Insert(p.marks, i, mark{at.Start.Byte, name})
}

// ContextString implements the interface that hcl's own diagnostic writers use.
func (p *places) ContextString(offset int) string {
	name := ""
	for _, m := range p.marks {
		if m.from > offset {
			break
		}
		name = m.name
	}
	return name
}

// firstSentence returns the first sentence of a text, without its full stop.
func firstSentence(s string) string {
	for i := range s {
		rest, ends := strings.CutPrefix(s[i:], ". ")
		if first, _ := utf8.DecodeRuneInString(rest); ends && unicode.IsUpper(first) {
			return s[:i]
		}
	}
	return strings.TrimSuffix(s, ".")
}

// capital puts the first letter in upper case.
func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// deadlineExceeded reports once that the deadline for reading the scenario has passed.
func (l *loader) deadlineExceeded(at hcl.Range) bool {
	if l.all.expired || !l.all.options.Deadline.At(at) {
		return l.all.expired
	}
	l.all.expired = true
	d := l.all.options.Deadline.Error()
	d.Extra = Hint("Write less, or allow more by --plan-timeout.")
	l.diags = append(l.diags, d)
	return true
}
