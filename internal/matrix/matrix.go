// Package matrix has traffic matrices: the bytes that each rank sends to each other rank. Only
// cells that are not zero need memory.
//
// The text form is that of NIXL's ct-perftest and its generator: a row for each sender, a cell for
// each receiver, white space between cells, and K M G for powers of 1024 (see Parse and Write).
package matrix

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Limits of files and generators.
const (
	MaxRanks = 1 << 16
	MaxCells = 1 << 24 // cells that are not zero: as of 4096 ranks that all send to each other
)

// Cell is the traffic from one rank to another.
type Cell struct {
	From, To int   // ranks, from 0
	Bytes    int64 // above 0
}

// Matrix is the traffic between ranks. It is immutable.
type Matrix struct {
	ranks   int
	senders []int32 // ranks that send anything, ascending
	starts  []int32 // index of the first cell of each sender; one entry more than senders
	to      []int32
	bytes   []int64
	total   int64
}

// New makes a matrix from its cells in any order. It returns an error for a rank outside of the
// matrix, two cells at one place, a size that is not above 0, and a total of 2⁶³ bytes or more.
func New(ranks int, cells []Cell) (*Matrix, error) {
	if err := checkRanks(ranks); err != nil {
		return nil, err
	}
	sorted := cells
	if !slices.IsSortedFunc(sorted, inOrder) { // mostly they are, and there may be millions
		sorted = slices.Clone(cells)
		slices.SortFunc(sorted, inOrder)
	}
	b := newBuilder(ranks, len(cells))
	for i, c := range sorted {
		switch {
		case c.From < 0 || c.From >= ranks || c.To < 0 || c.To >= ranks:
			return nil, fmt.Errorf("a cell is from rank %d to rank %d, but the ranks are 0 to %d", c.From, c.To,
				ranks-1)
		case c.Bytes <= 0:
			return nil, fmt.Errorf("rank %d sends %d bytes to rank %d: a cell must be above 0", c.From, c.Bytes, c.To)
		case i > 0 && sorted[i-1].From == c.From && sorted[i-1].To == c.To:
			return nil, fmt.Errorf("two cells are from rank %d to rank %d", c.From, c.To)
		}
		if err := b.add(c.From, c.To, c.Bytes); err != nil {
			return nil, err
		}
	}
	return b.done(), nil
}

// inOrder compares cells by sender, then by receiver.
func inOrder(a, b Cell) int { return cmp.Or(a.From-b.From, a.To-b.To) }

func checkRanks(ranks int) error {
	if ranks < 1 || ranks > MaxRanks {
		return fmt.Errorf("a matrix of %d ranks: use 1 to %d", ranks, MaxRanks)
	}
	return nil
}

// builder takes cells sorted by sender and receiver.
type builder struct{ m *Matrix }

func newBuilder(ranks, cells int) *builder {
	return &builder{&Matrix{ranks: ranks, to: make([]int32, 0, cells), bytes: make([]int64, 0, cells)}}
}

var (
	errTotal = errors.New("the cells add up to 2^63 bytes or more")
	errCells = fmt.Errorf("more than %d cells are not zero", MaxCells)
)

// add appends a cell, unless it is zero.
func (b *builder) add(from, to int, bytes int64) error {
	m := b.m
	switch {
	case bytes == 0:
		return nil
	case len(m.to) == MaxCells:
		return errCells
	case bytes > math.MaxInt64-m.total:
		return errTotal
	}
	if n := len(m.senders); n == 0 || m.senders[n-1] != int32(from) {
		m.senders = append(m.senders, int32(from))
		m.starts = append(m.starts, int32(len(m.to)))
	}
	m.to, m.bytes = append(m.to, int32(to)), append(m.bytes, bytes)
	m.total += bytes
	return nil
}

func (b *builder) done() *Matrix {
	b.m.starts = append(b.m.starts, int32(len(b.m.to)))
	return b.m
}

// Ranks returns the number of ranks, including those that send nothing.
func (m *Matrix) Ranks() int { return m.ranks }

// NonZero returns the number of cells that are not zero.
func (m *Matrix) NonZero() int { return len(m.to) }

// Total returns the sum of all cells in bytes.
func (m *Matrix) Total() int64 { return m.total }

// Split returns the cells between different ranks and the cells from a rank to itself. own is nil
// if there are none of the latter; others is then the matrix itself.
func (m *Matrix) Split() (others, own *Matrix) {
	parts := [2]*builder{newBuilder(m.ranks, len(m.to)), newBuilder(m.ranks, 0)}
	for c := range m.Cells() {
		part := parts[0]
		if c.From == c.To {
			part = parts[1]
		}
		if err := part.add(c.From, c.To, c.Bytes); err != nil {
			panic(err) // they were in one matrix
		}
	}
	if parts[1].m.NonZero() == 0 {
		return m, nil
	}
	return parts[0].done(), parts[1].done()
}

// Cells yields the cells that are not zero, by sender, then by receiver.
func (m *Matrix) Cells() iter.Seq[Cell] {
	return func(yield func(Cell) bool) {
		for i, from := range m.senders {
			for k := m.starts[i]; k < m.starts[i+1]; k++ {
				if !yield(Cell{int(from), int(m.to[k]), m.bytes[k]}) {
					return
				}
			}
		}
	}
}

// Row returns the receivers of a rank, ascending, with the bytes of each. The caller must not
// modify the slices.
func (m *Matrix) Row(from int) (to []int32, bytes []int64) {
	i, ok := slices.BinarySearch(m.senders, int32(from))
	if !ok {
		return nil, nil
	}
	return m.to[m.starts[i]:m.starts[i+1]], m.bytes[m.starts[i]:m.starts[i+1]]
}

// At returns the bytes from one rank to another.
func (m *Matrix) At(from, to int) int64 {
	columns, bytes := m.Row(from)
	if k, ok := slices.BinarySearch(columns, int32(to)); ok {
		return bytes[k]
	}
	return 0
}

// Largest returns the largest cell in bytes.
func (m *Matrix) Largest() int64 {
	if len(m.bytes) == 0 {
		return 0
	}
	return slices.Max(m.bytes)
}

// Senders returns the ranks that send, ascending.
func (m *Matrix) Senders() []int {
	out := make([]int, len(m.senders))
	for i, r := range m.senders {
		out[i] = int(r)
	}
	return out
}

// Receivers returns the ranks that receive, ascending.
func (m *Matrix) Receivers() []int {
	distinct := slices.Clone(m.to)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	out := make([]int, len(distinct))
	for i, r := range distinct {
		out[i] = int(r)
	}
	return out
}

// Involved returns the ranks that send or receive, ascending.
func (m *Matrix) Involved() []int {
	all := append(m.Senders(), m.Receivers()...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Bottleneck returns the first rank with the most bytes to send or to receive, and these bytes:
// with links of equal speed in both directions they bound the total time.
func (m *Matrix) Bottleneck() (rank int, bytes int64) {
	sent, received := make(map[int]int64), make(map[int]int64)
	for c := range m.Cells() {
		sent[c.From] += c.Bytes
		received[c.To] += c.Bytes
	}
	for _, r := range m.Involved() {
		if most := max(sent[r], received[r]); most > bytes {
			rank, bytes = r, most
		}
	}
	return rank, bytes
}
