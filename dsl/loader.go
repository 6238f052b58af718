package dsl

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// loader holds what the decoding of one file shares: its text, its diagnostics
// and the values that expressions see.
type loader struct {
	file   string
	src    []byte
	yaml   bool
	diags  hcl.Diagnostics
	places *places
	eval   *evaluator

	all  *loading
	root hooks // commands of the scenario's own
	// services are those of the file, which each run that uses them evaluates at its points.
	services []entry
	variants *variants // nil: the file has none
	declared []*declared
	// within is the run that is read at the moment, of which is known only later whether it sweeps
	// variants, and waiting is what is wrong if it does.
	within  *Run
	waiting hcl.Diagnostics
	prefix  string // what --var puts before the names of its variables: "" or "as."
	// incomplete says that runs are missing whose own errors have been reported,
	// so that what mentions them is not reported as well.
	incomplete bool
}

// Hint is what to do about a diagnostic, kept apart from what is wrong.
type Hint string

func (l *loader) error(at hcl.Range, summary, detail, hint string) {
	l.diags = append(l.diags, diagnostic(at, summary, detail, hint))
}

func diagnostic(at hcl.Range, summary, detail, hint string) *hcl.Diagnostic {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at}
	if hint != "" {
		d.Extra = Hint(hint)
	}
	return d
}

// inOrder sorts by file, the main one first, then by place, and drops repetitions.
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

// placeOf is the place of a diagnostic for sorting; one without comes first.
func placeOf(d *hcl.Diagnostic, order map[string]int) (file, start int) {
	if d.Subject == nil {
		return 0, -1
	}
	return order[d.Subject.Filename], d.Subject.Start.Byte
}

func quote(s string) string { return `"` + s + `"` }

// places tells in which run, check or variable an offset of the file lies. It is
// the Nav of the hcl.File, so both syntaxes say it alike.
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

// ContextString is what hcl's own diagnostic writers also ask for.
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

// firstSentence is what a text says first, without its full stop.
func firstSentence(s string) string {
	for i := range s {
		rest, ends := strings.CutPrefix(s[i:], ". ")
		if first, _ := utf8.DecodeRuneInString(rest); ends && unicode.IsUpper(first) {
			return s[:i]
		}
	}
	return strings.TrimSuffix(s, ".")
}

// capital gives a text its first capital.
func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}
