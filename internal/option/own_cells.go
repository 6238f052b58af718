package option

import (
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
)

// The values of option own_cells: the handling of cells from a rank to itself.
const (
	OwnCopy   = "copy"   // copy within the memory of the rank
	OwnIgnore = "ignore" // nothing is copied
	OwnError  = "error"  // the matrix is refused
)

// HasOwnCells reports whether a matrix in compact form has a cell from a rank to itself. It does
// not parse the matrix, which may have a million cells.
func HasOwnCells(compact string) bool {
	_, rows, _ := strings.Cut(compact, ":")
	for row := range strings.FieldsSeq(rows) {
		sender, cells, _ := strings.Cut(row, ">")
		if strings.HasPrefix(cells, sender+"=") || strings.Contains(cells, ","+sender+"=") {
			return true
		}
	}
	return false
}

// OwnCells counts the cells from a rank to itself in a matrix in compact form, and adds up their
// bytes.
func OwnCells(compact string) (cells int, bytes int64) {
	if !HasOwnCells(compact) {
		return 0, 0
	}
	m, err := matrix.ParseCompact(compact)
	if err != nil {
		return 0, 0 // the matrix is invalid, which is reported elsewhere
	}
	_, own := m.Split()
	return own.NonZero(), own.Total()
}

// ownAmount describes the cells from a rank to itself for people.
func ownAmount(own *matrix.Matrix) string {
	cells := "own cells"
	if own.NonZero() == 1 {
		cells = "own cell"
	}
	return strconv.Itoa(own.NonZero()) + " " + cells + " of " + quantity.Size(own.Total()).String()
}
