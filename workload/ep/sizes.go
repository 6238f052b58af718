package ep

import (
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/ep/routing"
)

// HeaderBytes is the size of the header before a message's row: the token's number, then zeros.
const HeaderBytes = 16

// RowBytes returns the size of a dispatched row without its scales.
func (s *Spec) RowBytes() int64 {
	if s.DispatchDtype == "fp8" {
		return s.Hidden
	}
	return 2 * s.Hidden
}

func (s *Spec) scaleBytes() int64 {
	switch {
	case s.DispatchDtype != "fp8":
		return 0
	case s.Scales == "ue8m0":
		return s.Hidden / groupOfScale
	}
	return 4 * s.Hidden / groupOfScale
}

// logicalMessage returns the size of a message as NIXL EP counts it.
func (s *Spec) logicalMessage() int64 { return HeaderBytes + s.RowBytes() + s.scaleBytes() }

// MessageBytes returns the size of a message as it is sent: with layout rank it includes the experts and weights of its
// token.
func (s *Spec) MessageBytes() int64 {
	if s.Layout == "rank" {
		return s.logicalMessage() + 8*int64(s.Routes.TopK)
	}
	return s.logicalMessage()
}

// lineOfGPU is the unit of kernels' writes: a path between GPUs takes as long for a part of a line.
const lineOfGPU = 128

func (s *Spec) orLine(unit int64) int64 {
	if s.VRAM() {
		return lineOfGPU
	}
	return unit
}

// MessageRoom returns the memory of a message: a multiple of 16 bytes, so that rows can be read in the widest loads; in
// GPU memory a multiple of a line.
func (s *Spec) MessageRoom() int64 { return up(s.MessageBytes(), s.orLine(16)) }

// outputBytes returns the size of a row of a combine, which is BF16.
func (s *Spec) outputBytes() int64 { return 2 * s.Hidden }

// sentCounts returns the bytes of counts that a rank sends to another: those for its experts. Kernels that send give
// all ranks all counts, then the numbers of messages for each rank, and of sending blocks.
func (s *Spec) sentCounts() int64 {
	if s.sentByKernels() {
		return 4 * (s.Ranks*s.PerRank + s.Ranks + 1)
	}
	return 4 * s.PerRank
}

// CountBytes returns the memory of one source's counts.
func (s *Spec) CountBytes() int64 { return up(4*s.PerRank, s.orLine(64)) }

func up(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

// Dispatches reports whether an iteration has a dispatch.
func (s *Spec) Dispatches() bool { return s.Mode != "combine" }

// Combines reports whether an iteration has a combine.
func (s *Spec) Combines() bool { return s.Mode != "dispatch" }

// sizes are the bytes between ranks in an iteration.
type sizes struct {
	logical []int64   // by rank: as published, of all selections
	sent    [][]int64 // by source and destination, themselves included
	dedup   [][]int64 // as sent, if a token went to each rank once
}

// Sent returns the bytes between ranks in the operations of an iteration: by operation, source and destination,
// themselves included.
func (s *Spec) Sent(t *routing.Table) (operations [][][]int64) {
	for _, mode := range []string{"dispatch", "combine"} {
		if one := *s; s.Mode == mode || s.Mode == "e2e" {
			one.Mode = mode
			operations = append(operations, one.sizes(t).sent)
		}
	}
	return operations
}

func (s *Spec) sizes(t *routing.Table) sizes {
	a, n := t.Amounts(), t.Ranks
	z := sizes{logical: make([]int64, n), sent: squareOf(n), dedup: squareOf(n)}
	for from := range n {
		for to := range n {
			pairs, distinct := int64(a.Pairs[from][to]), int64(a.Distinct[from][to])
			rows := pairs
			if s.Layout == "rank" {
				rows = distinct
			}
			if s.Dispatches() {
				z.logical[from] += pairs * s.logicalMessage()
				z.sent[from][to] += rows*s.wireMessage() + s.sentCounts()
				z.dedup[from][to] += distinct * s.logicalMessage()
			}
			if s.Combines() { // each arrival is answered
				z.logical[from] += pairs * s.outputBytes()
				z.sent[to][from] += rows * s.outputBytes()
				z.dedup[to][from] += distinct * s.outputBytes()
			}
		}
	}
	return z
}

// wireMessage returns the size of a message on the path.
func (s *Spec) wireMessage() int64 {
	if s.Layout == "packed" || s.VRAM() {
		return s.MessageRoom()
	}
	return s.MessageBytes()
}

func squareOf(n int) [][]int64 {
	rows := make([][]int64, n)
	for i := range rows {
		rows[i] = make([]int64, n)
	}
	return rows
}

// wire returns the bytes to or from others of the busiest rank: as sent, and if each token went to a rank once.
func (z sizes) wire() (sent, dedup int64) { return busiest(z.sent), busiest(z.dedup) }

func busiest(bytes [][]int64) (most int64) {
	for rank := range bytes {
		in := int64(0)
		for other := range bytes {
			if other != rank {
				in += bytes[other][rank]
			}
		}
		most = max(most, toOthers(bytes[rank], rank), in)
	}
	return most
}

// toOthers returns the bytes that a rank sends to others; row has the destinations.
func toOthers(row []int64, rank int) (sum int64) {
	for to, n := range row {
		if to != rank {
			sum += n
		}
	}
	return sum
}

// Moves returns the matrix of an iteration, including the bytes of ranks to themselves.
func (behaviour) Moves(options map[string]any) (*matrix.Matrix, error) {
	s, err := workload.Decoded(Kind, options, Decode)
	if err != nil {
		return nil, err
	}
	t, err := s.Table()
	if err != nil {
		return nil, err
	}
	var cells []matrix.Cell
	for from, row := range s.sizes(t).sent {
		for to, bytes := range row {
			if bytes > 0 {
				cells = append(cells, matrix.Cell{From: from, To: to, Bytes: bytes})
			}
		}
	}
	return matrix.New(t.Ranks, cells)
}
