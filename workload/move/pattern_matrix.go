package move

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
)

// MatrixPattern is the pattern of workload traffic: the matrix has the bytes between ranks. With op write the senders
// initiate, with op read the receivers.
const MatrixPattern = "matrix"

// MaxShards is the most requests that a cell may be cut into.
const MaxShards = 1 << 20

// receivers returns the ranks that a rank sends to, ascending.
func (t Spec) receivers(rank int) []int {
	row, _ := t.Matrix.Row(rank)
	list := make([]int, len(row))
	for i, to := range row {
		list[i] = int(to)
	}
	return list
}

// senders returns the ranks that send to a rank, ascending.
func (t Spec) senders(rank int) []int {
	list := []int{}
	for _, from := range t.Matrix.Senders() {
		if t.Matrix.At(from, rank) > 0 {
			list = append(list, from)
		}
	}
	return list
}

// fromTheNext rotates a list of ranks to begin after this one, so that not all initiators begin with the same target.
func fromTheNext(rank int, ascending []int) []int {
	next, _ := slices.BinarySearch(ascending, rank)
	return slices.Concat(ascending[next:], ascending[:next])
}

// flows counts the targets and the sources of each rank of a matrix.
func (t Spec) flows() (targets, sources []int64) {
	targets, sources = make([]int64, t.Matrix.Ranks()), make([]int64, t.Matrix.Ranks())
	for c := range t.Matrix.Cells() {
		targets[c.From]++
		sources[c.To]++
	}
	if t.Op == "read" {
		return sources, targets
	}
	return targets, sources
}

func (t Spec) maxRegions() int64 {
	targets, sources := t.flows()
	most := int64(0)
	for i := range targets {
		most = max(most, max(1, targets[i])+max(1, sources[i]))
	}
	return most
}

// checkMatrix is Check for a matrix.
func (t Spec) checkMatrix() error {
	m := t.Matrix
	switch {
	case m == nil || t.Pattern != MatrixPattern:
		return fmt.Errorf("pattern %s needs a matrix, and a matrix this pattern", MatrixPattern)
	case int64(m.Ranks()) != t.Ranks || t.Ranks < 2:
		return fmt.Errorf("the matrix has %d ranks and the launch %d: they must be equal, and at least 2", m.Ranks(),
			t.Ranks)
	case m.NonZero() == 0:
		return fmt.Errorf("all cells of the matrix are 0: nothing would move")
	case t.Mode != "stream" || t.Batch != 1 || t.Threads != 1 || t.Duration != 0 || t.Bidirectional ||
		t.Reuse == "spread" || t.Payload == "zero":
		return fmt.Errorf("traffic of a matrix has mode stream, a batch and threads of 1, iterations and no duration, and random contents that are not spread over memory")
	case t.Shards < 1 || t.Shards > MaxShards:
		return fmt.Errorf("%d shards of a cell: there are 1 to %d", t.Shards, MaxShards)
	}
	if rank, bytes := m.Bottleneck(); bytes > int64(maxMemory) {
		return fmt.Errorf("rank %d has %v to send or to receive, which is more than %v", rank, quantity.Size(bytes),
			maxMemory)
	}
	if t.Step != nil {
		if err := t.checkStep(); err != nil {
			return err
		}
	}
	return t.CheckFabric()
}
