// Matrices of traffic: given as rows, as files, or by a generator.

package dsl

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/suggest"
)

// chooseExclusive keeps one of the options of which a run takes exactly one. The run's own entries
// override the defaults.
func (sr *settingReader) chooseExclusive(own []entry, inherited []entry, swept bool) []entry {
	var first *entry
	given := func(entries []entry) []entry {
		return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
			return !slices.Contains(sr.run.Workload.OneOf, e.name)
		})
	}
	for _, name := range sr.run.Workload.OneOf {
		if a := sr.run.axis(name); a != nil {
			first = sr.onlyOne(first, entry{name: name, at: a.Range})
		}
	}
	for _, e := range given(own) {
		if sr.run.axis(e.name) == nil { // an axis without values is reported where it is read
			first = sr.onlyOne(first, e)
		}
	}
	if first != nil {
		return slices.DeleteFunc(inherited,
			func(e entry) bool { return slices.Contains(sr.run.Workload.OneOf, e.name) })
	}
	for _, e := range given(inherited) {
		first = sr.onlyOne(first, e)
	}
	misspelt := slices.ContainsFunc(slices.Concat(own, inherited), func(e entry) bool {
		_, known := sr.run.Workload.Option(e.name)
		return !known && slices.Contains(sr.run.Workload.OneOf, suggest.Nearest(e.name, optionNames(sr.run.Workload)))
	})
	if first == nil && len(sr.run.Workload.OneOf) > 0 && swept && !misspelt {
		sr.error(
			sr.run.Range,
			"Missing option",
			fmt.Sprintf("Run %q has none of the options %s. Workload %s needs one of them.",
				sr.run.Name, strings.Join(sr.run.Workload.OneOf, ", "), sr.run.Workload.Name),
			"Add one of them to its options, or sweep it.",
		)
	}
	return inherited
}

func (sr *settingReader) onlyOne(first *entry, e entry) *entry {
	if first == nil {
		return &e
	}
	sr.error(
		e.at,
		"Given twice",
		fmt.Sprintf("%s and %s are both set. A run of workload %s takes only one of %s.",
			quote(e.name), quote(first.name), sr.run.Workload.Name, strings.Join(sr.run.Workload.OneOf, ", ")),
		"Keep one of the two.",
	)
	return first
}

// matrixSetting reads a matrix given as a list of rows, a file or a model; nil if the option is of
// another kind.
func (sr *settingReader) matrixSetting(e entry, o option.Option) (s *Setting, mine bool) {
	rows, diags := hcl.ExprList(e.expr)
	switch {
	case o.Type == option.Generator && isMapping(e.expr):
		into, _ := sr.run.Workload.Option(o.Into)
		s = &Setting{Name: into.Name, Option: into, run: sr.run}
		if text, ok := sr.generateMatrix(e); ok {
			s.value = text
		}
	case o.Type == option.Matrix && !diags.HasErrors():
		s = &Setting{Name: o.Name, Option: o, run: sr.run}
		if text, ok := sr.rows(rows, e.expr.Range()); ok {
			s.value = text
		}
	case o.Type == option.File:
		into, _ := sr.run.Workload.Option(o.Into)
		s = &Setting{Name: into.Name, Option: into, run: sr.run}
		if !sr.refusePoint(e.expr, sweepMatrices) {
			break
		}
		if name, ok := sr.text(e.expr, o.Name); ok {
			if name == "" && !into.Required { // a variable left it empty
				return nil, true
			}
			s.value, _ = sr.fileOption(into, name, e.expr.Range())
			s.file = &DataFile{Option: o.Name, Path: name}
		}
	default:
		return nil, false
	}
	return s, true
}

// Hints for a matrix that would differ between the points of a sweep.
const (
	sweepMatrices = "Sweep matrix_file or generate itself."
	severalRuns   = "Write a run for each value."
)

// refusePoint reports a value that would differ between the points of a sweep.
func (d *decoder) refusePoint(expr hcl.Expression, instead string) bool {
	for _, t := range expr.Variables() {
		if t.RootName() == "axis" {
			d.error(t.SourceRange(), "Depends on the point",
				"A matrix cannot depend on the point: it is read before the sweep.",
				instead)
			return false
		}
	}
	return true
}

// rows reads a matrix cell by cell and returns its canonical text.
func (l *loader) rows(rows []hcl.Expression, at hcl.Range) (string, bool) {
	before := len(l.diags)
	var cells []matrix.Cell
	var own *ownCell
	for from, row := range rows {
		list, diags := hcl.ExprList(row)
		if diags.HasErrors() || len(list) != len(rows) {
			l.error(
				row.Range(),
				"Not a square",
				fmt.Sprintf(
					"Row %d of the matrix is not a list of %d cells. A matrix is square: as many receivers as senders.",
					from+1,
					len(rows),
				),
				"Write a cell for each rank, 0 if nothing is sent.",
			)
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
		err = option.CheckMatrix(m)
	}
	if err != nil {
		l.error(at, "Invalid matrix", sentence(err.Error()), "")
		return "", false
	}
	text := m.Compact()
	l.all.own[text] = own
	return text, true
}

func (d *decoder) cell(expr hcl.Expression) int64 {
	if !d.refusePoint(expr, sweepMatrices) {
		return 0
	}
	text, ok := d.text(expr, "a cell")
	if !ok {
		return 0
	}
	bytes, err := option.ParseCell(text)
	if err != nil {
		d.error(expr.Range(), "Not a size", sentence(err.Error()),
			"Cells look like 0, 4096, 1.5K, 64M or 2G (powers of 1024), or 64MiB.")
	}
	return bytes
}

// fileOption reads the file that an option names.
func (l *loader) fileOption(into option.Option, name string, at hcl.Range) (value any, ok bool) {
	if into.Type == option.Matrix {
		return l.matrixFile(name, at)
	}
	path := l.relative(name)
	src, err := l.all.options.Read(path)
	if err != nil {
		l.cannotRead(at, "Cannot read the file", path, err)
		return nil, false
	}
	text, err := into.Read(base64.StdEncoding.EncodeToString(src))
	if err != nil {
		l.error(at, "Invalid file", fmt.Sprintf("Of %s: %v.", path, err), "")
		return nil, false
	}
	return text, true
}

// matrixFile reads a matrix in the published form and returns its canonical text. Errors point into
// the matrix file.
func (l *loader) matrixFile(name string, at hcl.Range) (text any, ok bool) {
	g, path := l.all, l.relative(name)
	if text, known := g.matrices[path]; known {
		return text, text != nil
	}
	src, err := g.options.Read(path)
	if err != nil {
		l.cannotRead(at, "Cannot read the matrix", path, err)
		return nil, false
	}
	m, err := matrix.Parse(bytes.NewReader(src), path, 0)
	if err == nil {
		if err = option.CheckMatrix(m); err == nil {
			compact := m.Compact()
			text = compact
			l.keepOwnCell(compact, src, path)
		}
	}
	if e, isSyntax := errors.AsType[*matrix.SyntaxError](err); isSyntax {
		g.addFile(path, &hcl.File{Bytes: src})
		l.error(placeIn(src, path, e), e.Summary, e.Detail, "")
	} else if err != nil {
		l.error(at, "Invalid matrix", fmt.Sprintf("Of %s: %v.", path, err), "")
	}
	g.matrices[path] = text // nil if it is wrong: errors are reported once
	return text, err == nil
}

// fileAxis is the setting of an option that takes the contents of the files on an axis.
func (sr *settingReader) fileAxis(o option.Option, axis int) *Setting {
	into, _ := sr.run.Workload.Option(o.Into)
	s := &Setting{
		Name: into.Name, Option: into, Axes: []int{axis}, run: sr.run,
		given: sr.run.Axes[axis].Range, contents: map[string]any{},
	}
	for _, v := range sr.run.Axes[axis].Values {
		s.contents[v.Text], _ = sr.fileOption(into, v.Text, v.Range)
	}
	return s
}

// ranksOfMatrix is the setting of a number of ranks that follows from the matrix.
func (sr *settingReader) ranksOfMatrix(o option.Option) *Setting {
	if of := sr.byName[o.RanksOf]; of != nil {
		return &Setting{Name: o.Name, Option: o, Axes: of.Axes, run: sr.run, matrix: of}
	}
	for _, name := range sr.run.Workload.OneOf {
		if g, ok := sr.run.Workload.Option(name); ok && g.Type == option.Generator && sr.byName[name] != nil {
			sr.error(
				sr.run.Range,
				"Missing option",
				fmt.Sprintf("Run %q generates a matrix, but has no number of ranks.",
					sr.run.Name),
				fmt.Sprintf("Add %s to its options, or sweep it.", o.Name),
			)
		}
	}
	return nil
}

// checkRanks checks a given number of ranks against the matrix if neither differs between points;
// the planner checks the others. All matrices of a sequence have the same number of ranks.
func (sr *settingReader) checkRanks(s *Setting, of *Setting) {
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
	ranks, known := option.Ranks(text)
	given, ok := s.value.(int64)
	if !known || !ok || given == ranks {
		return
	}
	at, own := s.Given()
	if !own {
		at = s.run.Range // it is from the defaults
	}
	sr.error(
		at,
		"Wrong number of ranks",
		fmt.Sprintf("%s is %d, but the matrix has %d ranks.", capital(s.Name), given,
			ranks),
		"Leave it out: it follows from the matrix.",
	)
}
