package workload

import (
	"strconv"
	"strings"

	"weir/matrix"
	"weir/quantity"
)

// What becomes of the cells of ranks with themselves: option own_cells.
const (
	OwnCopy   = "copy"   // within the memory of the rank
	OwnIgnore = "ignore" // nothing is moved
	OwnError  = "error"  // the matrix is refused
)

// HasOwnCells says whether a matrix, as matrix.Compact writes it, has a cell of a rank
// with itself. It does not read the matrix, which may have a million cells.
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

// OwnCells counts the cells of ranks with themselves in a matrix, as Compact writes it,
// and adds up their bytes.
func OwnCells(compact string) (cells int, bytes int64) {
	if !HasOwnCells(compact) {
		return 0, 0
	}
	m, err := matrix.ParseCompact(compact)
	if err != nil {
		return 0, 0 // of a matrix that is refused for what is wrong with it
	}
	_, own := m.Split()
	return own.NonZero(), own.Total()
}

// ownAmount is what the cells of ranks with themselves amount to, for a person.
func ownAmount(own *matrix.Matrix) string {
	cells := "own cells"
	if own.NonZero() == 1 {
		cells = "own cell"
	}
	return strconv.Itoa(own.NonZero()) + " " + cells + " of " + quantity.Size(own.Total()).String()
}
