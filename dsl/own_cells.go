package dsl

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"weir/matrix"
	"weir/workload"
)

// ownCell is the first cell of a matrix in which a rank sends to itself.
type ownCell struct {
	rank int
	at   hcl.Range
}

// keepOwnCell keeps the place of the first own cell of a file. Nobody keeps the places
// of cells while a file is read, so it is looked for again.
func (l *loader) keepOwnCell(text string, src []byte, path string) {
	if !workload.HasOwnCells(text) {
		return
	}
	at, row := 0, 0
	for number, line := range bytes.SplitAfter(src, []byte("\n")) {
		cells, _, _ := bytes.Cut(line, []byte("#"))
		fields := bytes.Fields(cells)
		if row < len(fields) {
			if size, err := matrix.ParseSize(string(fields[row])); err == nil && size > 0 {
				e := &matrix.SyntaxError{Line: number + 1}
				from := 0
				for k := range row + 1 {
					from += bytes.IndexFunc(cells[from:], notSpace)
					if k < row {
						from += len(fields[k])
					}
				}
				e.Column, e.Start, e.End = utf8.RuneCount(cells[:from])+1, at+from, at+from+len(fields[row])
				l.all.own[text] = &ownCell{row, placeIn(src, path, e)}
				l.all.add(path, &hcl.File{Bytes: src})
				return
			}
		}
		if len(fields) > 0 {
			row++
		}
		at += len(line)
	}
}

func notSpace(r rune) bool { return !strings.ContainsRune(" \t\r\v\f\n", r) }

// placeIn is a place in the file of a matrix.
func placeIn(src []byte, path string, e *matrix.SyntaxError) hcl.Range {
	end := hcl.Pos{Line: e.Line, Column: e.Column + utf8.RuneCount(src[e.Start:e.End]), Byte: e.End}
	return hcl.Range{Filename: path, Start: hcl.Pos{Line: e.Line, Column: e.Column, Byte: e.Start}, End: end}
}

// refuseOwnCells reports the own cells of the matrices of a run that wants none. The
// planner looks at those of which nobody knows the place, and at an option that differs
// between the points of a sweep.
func (l *loader) refuseOwnCells(r *Run) {
	var matrices *Setting
	refused := false
	for _, s := range r.settings {
		switch {
		case s.Option.Type == workload.Matrix:
			matrices = s
		case s.Option.WithOwnCells:
			refused = s.value == workload.OwnError
		}
	}
	if matrices == nil || !refused {
		return
	}
	texts := []any{matrices.value}
	for _, name := range slices.Sorted(maps.Keys(matrices.contents)) {
		texts = append(texts, matrices.contents[name])
	}
	for _, t := range texts {
		text, _ := t.(string)
		if own := l.all.own[text]; own != nil {
			l.error(own.at, "Own cell", fmt.Sprintf("Rank %d sends to itself, and own_cells is error.", own.rank),
				"Write 0, or leave own_cells out: the rank copies so many bytes within its own memory then.")
		}
	}
}
