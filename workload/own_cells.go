package workload

import (
	"fmt"
	"strconv"
	"strings"

	"weir/matrix"
	"weir/quantity"
)

// What becomes of the cells of ranks with themselves: option own_cells.
const (
	ownCopy   = "copy"   // within the memory of the rank
	OwnIgnore = "ignore" // nothing is moved
	OwnError  = "error"  // the matrix is refused
)

// ownCells is the option of a workload that moves matrices.
func ownCells(process bool) Option {
	return Option{Name: "own_cells", Type: Enum, Default: ownCopy, Process: process, Values: []string{ownCopy, OwnIgnore, OwnError}, WithOwnCells: true,
		Doc: "what becomes of the cell of a rank with itself. copy: the rank copies as many bytes from one place of its memory to another, in each iteration after its requests to others are posted, as in ct-perftest; the time is part of the iteration, the bytes are counted as bytes.own and nowhere else, and the contents are verified like others; ignore: nothing is moved; error: the matrix is refused. Matrices without such cells do not have the option"}
}

// ownBytes is the metric of what ranks copy within their own memory.
var ownBytes = Metric{"bytes.own", "B", Neither, "sum of the cells of ranks with themselves, which are copied within a rank in each iteration (own_cells copy): the time is part of the iteration, and no bandwidth, ceiling or other number of bytes counts them; only where there are such cells"}

// setMatrix takes a matrix apart into what crosses between ranks and what each copies
// within its own memory.
func (t *TransferOptions) setMatrix(m *matrix.Matrix, ownCells any) error {
	crossing, own := m.Split()
	t.Matrix = crossing
	switch {
	case own == nil || ownCells == OwnIgnore:
		return nil
	case ownCells == OwnError:
		rank := own.Senders()[0]
		return fmt.Errorf("rank %d sends %v to itself, and own_cells is error", rank, quantity.Size(own.At(rank, rank)))
	case ownCells != ownCopy:
		return fmt.Errorf("option own_cells is %v", ownCells)
	}
	t.Own = own
	return nil
}

// OwnBytes is how many bytes a rank copies within its own memory in an iteration.
func (t TransferOptions) OwnBytes(rank int) int64 {
	if t.Own == nil {
		return 0
	}
	return t.Own.At(rank, rank)
}

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
