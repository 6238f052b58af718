package dsl

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/matrix"
	"weir/suggest"
	"weir/workload"
)

// maxMatrices bounds the files of matrices of a scenario together. A dense matrix
// of 1024 ranks has some 8 MB.
const maxMatrices = 64 << 20

// exclusive holds a run to one of the options of which there is exactly one. What it
// says itself counts before the defaults, whose others it gives no value.
func (l *loader) exclusive(r *Run, own, inherited []entry, swept bool) []entry {
	var first *entry
	given := func(entries []entry) []entry {
		return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
			return !slices.Contains(r.Workload.OneOf, e.name)
		})
	}
	for _, name := range r.Workload.OneOf {
		if a := r.axis(name); a != nil {
			first = l.onlyOne(r, first, entry{name: name, at: a.Range})
		}
	}
	for _, e := range given(own) {
		if r.axis(e.name) == nil { // which is reported where it is read
			first = l.onlyOne(r, first, e)
		}
	}
	if first != nil {
		return slices.DeleteFunc(inherited, func(e entry) bool { return slices.Contains(r.Workload.OneOf, e.name) })
	}
	for _, e := range given(inherited) {
		first = l.onlyOne(r, first, e)
	}
	misspelt := slices.ContainsFunc(slices.Concat(own, inherited), func(e entry) bool {
		_, known := r.Workload.Option(e.name)
		return !known && slices.Contains(r.Workload.OneOf, suggest.Nearest(e.name, optionNames(r.Workload)))
	})
	if first == nil && len(r.Workload.OneOf) > 0 && swept && !misspelt {
		l.error(r.Range, "Missing option", fmt.Sprintf("Run %q has none of the options %s, of which workload %s needs one.",
			r.Name, strings.Join(r.Workload.OneOf, ", "), r.Workload.Name),
			"Add one of them to its options, or sweep it.")
	}
	return inherited
}

func (l *loader) onlyOne(r *Run, first *entry, e entry) *entry {
	if first == nil {
		return &e
	}
	l.error(e.at, "Given twice", fmt.Sprintf("%s is beside %s, and a run of workload %s has only one of the options %s.",
		quote(e.name), quote(first.name), r.Workload.Name, strings.Join(r.Workload.OneOf, ", ")),
		"Keep one of the two.")
	return first
}

// matrixSetting reads a matrix that is a list of rows, names a file or follows from a
// model; nil if it is an option like others.
func (l *loader) matrixSetting(e entry, o workload.Option, r *Run) (s *Setting, mine bool) {
	rows, diags := hcl.ExprList(e.expr)
	switch {
	case o.Type == workload.Generator && isMapping(e.expr):
		into, _ := r.Workload.Option(o.Into)
		s = &Setting{Name: into.Name, Option: into, run: r}
		if text, ok := l.modelMatrix(e); ok {
			s.value = text
		}
	case o.Type == workload.Matrix && !diags.HasErrors():
		s = &Setting{Name: o.Name, Option: o, run: r}
		if text, ok := l.rows(rows, e.expr.Range()); ok {
			s.value = text
		}
	case o.Type == workload.File:
		into, _ := r.Workload.Option(o.Into)
		s = &Setting{Name: into.Name, Option: into, run: r}
		if !l.fixed(e.expr, sweepMatrices) {
			break
		}
		if name, ok := l.text(e.expr, o.Name); ok {
			if name == "" && !into.Required { // as a variable leaves it out
				return nil, true
			}
			s.value, _ = l.fileOption(into, name, e.expr.Range())
			s.file = &DataFile{Option: o.Name, Path: name}
		}
	default:
		return nil, false
	}
	return s, true
}

// Ways out of a matrix that would differ between the points of a sweep.
const (
	sweepMatrices = "Sweep matrix_file or generate itself."
	severalRuns   = "Write a run for each value."
)

// fixed reports a value that would differ between the points of a sweep.
func (l *loader) fixed(expr hcl.Expression, instead string) bool {
	for _, t := range expr.Variables() {
		if t.RootName() == "axis" {
			l.error(t.SourceRange(), "Depends on the point", "A matrix is read before there is any point of the sweep.",
				instead)
			return false
		}
	}
	return true
}

// rows reads a matrix cell by cell and gives its canonical text.
func (l *loader) rows(rows []hcl.Expression, at hcl.Range) (string, bool) {
	before := len(l.diags)
	var cells []matrix.Cell
	var own *ownCell
	for from, row := range rows {
		list, diags := hcl.ExprList(row)
		if diags.HasErrors() || len(list) != len(rows) {
			l.error(row.Range(), "Not a square",
				fmt.Sprintf("Row %d of the matrix is not a list of %d cells, one for each of its rows: there are as many receivers as senders.",
					from+1, len(rows)), "Write a cell for each rank, 0 where nothing is moved.")
			continue
		}
		for to, expr := range list {
			bytes := l.cell(expr)
			if bytes > 0 {
				cells = append(cells, matrix.Cell{From: from, To: to, Bytes: bytes})
			}
			if bytes > 0 && from == to && own == nil {
				own = &ownCell{rank: from, at: expr.Range()}
			}
		}
	}
	if len(l.diags) > before {
		return "", false
	}
	m, err := matrix.New(len(rows), cells)
	if err == nil {
		err = workload.CheckMatrix(m)
	}
	if err != nil {
		l.error(at, "Invalid matrix", sentence(err.Error()), "")
		return "", false
	}
	text := m.Compact()
	l.all.own[text] = own
	return text, true
}

func (l *loader) cell(expr hcl.Expression) int64 {
	if !l.fixed(expr, sweepMatrices) {
		return 0
	}
	text, ok := l.text(expr, "a cell")
	if !ok {
		return 0
	}
	bytes, err := workload.ParseCell(text)
	if err != nil {
		l.error(expr.Range(), "Not a size", sentence(err.Error()),
			"Cells look like 0, 4096, 1.5K, 64M or 2G (powers of 1024), or 64MiB.")
	}
	return bytes
}

// fileOption reads what an option takes from a file.
func (l *loader) fileOption(into workload.Option, name string, at hcl.Range) (value any, ok bool) {
	if into.Type == workload.Matrix {
		return l.matrixFile(name, at)
	}
	path := l.relative(name)
	src, err := l.all.options.Read(path)
	if err != nil {
		l.unread(at, "Cannot read the file", path, err)
		return nil, false
	}
	if l.all.cells += len(src); l.all.cells > maxMatrices {
		l.error(at, "File too large", fmt.Sprintf("With %s the files of the scenario have more than %d bytes, which is the most for all of them together.",
			path, maxMatrices), "")
		return nil, false
	}
	text, err := into.Read(base64.StdEncoding.EncodeToString(src))
	if err != nil {
		l.error(at, "Invalid file", fmt.Sprintf("Of %s: %v.", path, err), "")
		return nil, false
	}
	return text, true
}

// matrixFile reads a matrix in the published form and gives its canonical text. What
// is wrong with it is said at its place in its own file.
func (l *loader) matrixFile(name string, at hcl.Range) (text any, ok bool) {
	g, path := l.all, l.relative(name)
	if text, known := g.matrices[path]; known {
		return text, text != nil
	}
	src, err := g.options.Read(path)
	if err != nil {
		l.unread(at, "Cannot read the matrix", path, err)
		return nil, false
	}
	if g.cells += len(src); g.cells > maxMatrices {
		l.error(at, "File too large", fmt.Sprintf("With %s the matrices of the scenario have more than %d bytes, which is the most for all of them together.",
			path, maxMatrices), "")
		return nil, false
	}
	m, err := matrix.Parse(bytes.NewReader(src), path, 0)
	if err == nil {
		if err = workload.CheckMatrix(m); err == nil {
			compact := m.Compact()
			text = compact
			l.keepOwnCell(compact, src, path)
		}
	}
	if e, isSyntax := errors.AsType[*matrix.SyntaxError](err); isSyntax {
		g.add(path, &hcl.File{Bytes: src})
		l.error(placeIn(src, path, e), e.Summary, e.Detail, "")
	} else if err != nil {
		l.error(at, "Invalid matrix", fmt.Sprintf("Of %s: %v.", path, err), "")
	}
	g.matrices[path] = text // nil where it is wrong, which is said once
	return text, err == nil
}

// fileAxis is the setting of the option that takes what the files of an axis hold.
func (l *loader) fileAxis(o workload.Option, r *Run, axis int) *Setting {
	into, _ := r.Workload.Option(o.Into)
	s := &Setting{
		Name: into.Name, Option: into, Axes: []int{axis}, run: r, given: r.Axes[axis].Range, contents: map[string]any{},
	}
	for _, v := range r.Axes[axis].Values {
		s.contents[v.Text], _ = l.fileOption(into, v.Text, v.Range)
	}
	return s
}

// ranksOf is the setting of a number of ranks that nobody gives: those of a matrix.
func (l *loader) ranksOf(o workload.Option, r *Run, others map[string]*Setting) *Setting {
	if of := others[o.RanksOf]; of != nil {
		return &Setting{Name: o.Name, Option: o, Axes: of.Axes, run: r, ranksOf: of}
	}
	for _, name := range r.Workload.OneOf {
		if g, ok := r.Workload.Option(name); ok && g.Type == workload.Generator && others[name] != nil {
			l.error(r.Range, "Missing option", fmt.Sprintf("Run %q generates a matrix and does not say of how many ranks.",
				r.Name), fmt.Sprintf("Add %s to its options, or sweep it.", o.Name))
		}
	}
	return nil
}

// asManyRanks holds a number of ranks that is given to the matrix, where neither
// differs between points: the planner looks at those that do. The matrices of a
// sequence are all of the same ranks.
func (l *loader) asManyRanks(s, of *Setting) {
	if of == nil {
		return
	}
	value, varies := of.value, len(s.Axes)+len(of.Axes) > 0
	if q := s.run.sequence; q != nil {
		value, varies = q.items[0].values[of.Name], len(s.Axes) > 0
	}
	if varies {
		return
	}
	text, _ := value.(string)
	ranks, known := workload.Ranks(text)
	given, ok := s.value.(int64)
	if !known || !ok || given == ranks {
		return
	}
	at, own := s.Given()
	if !own {
		at = s.run.Range // the defaults say it
	}
	l.error(at, "Wrong number of ranks", fmt.Sprintf("%s is %d, and the matrix is of %d ranks.", capital(s.Name), given,
		ranks), "Leave it out: the matrix says it.")
}
