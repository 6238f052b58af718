// Package matrix holds traffic matrices: how many bytes each rank sends to each
// other rank. A cell that is zero costs nothing, so a thousand ranks of which
// eight talk are as small as eight.
//
// The text form is the one that NIXL's ct-perftest reads and its generator
// writes: a row for each sender, a cell for each receiver, white space between
// them, and K M G for powers of 1024 (see Parse and Write).
package matrix

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Limits on what a file or a generator may ask for.
const (
	MaxRanks = 1 << 16
	MaxCells = 1 << 24 // cells that are not zero: 4096 ranks that all talk to each other
)

// Cell is what one rank sends to another.
type Cell struct {
	From, To int   // ranks, from 0
	Bytes    int64 // above 0
}

// Matrix is the traffic between ranks. It does not change once it is made.
type Matrix struct {
	ranks   int
	senders []int32 // ranks that send anything, ascending
	starts  []int32 // where the cells of each sender begin; one more than senders
	to      []int32
	bytes   []int64
	total   int64
}

// New makes a matrix from its cells, which may come in any order. A rank outside
// of the matrix, two cells at one place, a size that is not above 0 and a sum of
// 2⁶³ bytes or more are errors.
func New(ranks int, cells []Cell) (*Matrix, error) {
	if err := checkRanks(ranks); err != nil {
		return nil, err
	}
	sorted := cells
	if !slices.IsSortedFunc(sorted, inOrder) { // they mostly are, and may be millions
		sorted = slices.Clone(cells)
		slices.SortFunc(sorted, inOrder)
	}
	b := newBuilder(ranks, len(cells))
	for i, c := range sorted {
		switch {
		case c.From < 0 || c.From >= ranks || c.To < 0 || c.To >= ranks:
			return nil, fmt.Errorf("a cell goes from rank %d to rank %d, and the ranks are 0 to %d", c.From, c.To,
				ranks-1)
		case c.Bytes <= 0:
			return nil, fmt.Errorf("rank %d sends %d bytes to rank %d: a cell is above 0", c.From, c.Bytes, c.To)
		case i > 0 && sorted[i-1].From == c.From && sorted[i-1].To == c.To:
			return nil, fmt.Errorf("two cells go from rank %d to rank %d", c.From, c.To)
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
		return fmt.Errorf("a matrix of %d ranks: it has 1 to %d", ranks, MaxRanks)
	}
	return nil
}

// builder takes cells in order of sender and receiver.
type builder struct{ m *Matrix }

func newBuilder(ranks, cells int) *builder {
	return &builder{&Matrix{ranks: ranks, to: make([]int32, 0, cells), bytes: make([]int64, 0, cells)}}
}

var (
	errTotal = errors.New("the cells add up to 2^63 bytes or more")
	errCells = fmt.Errorf("more than %d cells are not zero", MaxCells)
)

// add appends a cell; one of no bytes is none.
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

// Ranks is the number of ranks, whether or not they send anything.
func (m *Matrix) Ranks() int { return m.ranks }

// NonZero is the number of cells that are not zero.
func (m *Matrix) NonZero() int { return len(m.to) }

// Total is the sum of all cells in bytes.
func (m *Matrix) Total() int64 { return m.total }

// Split takes a matrix apart into the cells between ranks and those of ranks with
// themselves. own is nil if there are none of these, and others the matrix itself.
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

// Cells are the cells that are not zero, by sender, then by receiver.
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

// Row are the receivers of a rank, ascending, with the bytes that each gets. The
// slices belong to the matrix.
func (m *Matrix) Row(from int) (to []int32, bytes []int64) {
	i, ok := slices.BinarySearch(m.senders, int32(from))
	if !ok {
		return nil, nil
	}
	return m.to[m.starts[i]:m.starts[i+1]], m.bytes[m.starts[i]:m.starts[i+1]]
}

// At is what one rank sends to another, in bytes.
func (m *Matrix) At(from, to int) int64 {
	columns, bytes := m.Row(from)
	if k, ok := slices.BinarySearch(columns, int32(to)); ok {
		return bytes[k]
	}
	return 0
}

// Largest is the largest cell in bytes.
func (m *Matrix) Largest() int64 {
	if len(m.bytes) == 0 {
		return 0
	}
	return slices.Max(m.bytes)
}

// Senders are the ranks that send anything, ascending.
func (m *Matrix) Senders() []int {
	out := make([]int, len(m.senders))
	for i, r := range m.senders {
		out[i] = int(r)
	}
	return out
}

// Receivers are the ranks that get anything, ascending.
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

// Involved are the ranks that send or get anything, ascending.
func (m *Matrix) Involved() []int {
	all := append(m.Senders(), m.Receivers()...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Bottleneck is the rank that has the most to send or to receive, with those
// bytes: with links of equal speed in both directions nothing ends before it. Of
// several it is the first.
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
