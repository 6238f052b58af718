// Cells of a matrix from a rank to itself.

package dsl

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
)

// ownCell is the first cell of a matrix in which a rank sends to itself.
type ownCell struct {
	rank int
	at   hcl.Range
}

// keepOwnCell records the place of the first own cell of a file. It searches the file again, since
// the parser keeps no places.
func (l *loader) keepOwnCell(text string, src []byte, path string) {
	if !option.HasOwnCells(text) {
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
				l.all.addFile(path, &hcl.File{Bytes: src})
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

// placeIn returns the place of an error in the file of a matrix.
func placeIn(src []byte, path string, e *matrix.SyntaxError) hcl.Range {
	end := hcl.Pos{Line: e.Line, Column: e.Column + utf8.RuneCount(src[e.Start:e.End]), Byte: e.End}
	return hcl.Range{Filename: path, Start: hcl.Pos{Line: e.Line, Column: e.Column, Byte: e.Start}, End: end}
}

// refuseOwnCells reports own cells if the run has own_cells: error. The planner checks matrices
// without known places, and values of the option that differ between points.
func (sr *settingReader) refuseOwnCells() {
	var matrices *Setting
	refused := false
	for _, s := range sr.run.settings {
		switch {
		case s.Option.Type == option.Matrix:
			matrices = s
		case s.Option.Where.OwnCells:
			refused = s.value == option.OwnError
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
		if own := sr.all.own[text]; own != nil {
			sr.error(own.at, "Own cell", fmt.Sprintf("Rank %d sends to itself, and own_cells is error.", own.rank),
				"Write 0, or leave own_cells out: then the rank copies these bytes within its own memory.")
		}
	}
}
