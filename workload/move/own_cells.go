package move

import (
	"fmt"
	"weir/matrix"
	"weir/quantity"
	"weir/workload"
)

// OwnCells is the option of a workload that moves matrices.
func OwnCells(process bool) workload.Option {
	o := options[ownCells]
	o.Process = process
	return o
}

// Places in options.
const (
	ownCells = iota
	vramAlloc
)

// options are those that several workloads have.
var options = []workload.Option{
	ownCells: {
		Name: "own_cells", Type: workload.Enum, Default: workload.OwnCopy,
		Values: []string{workload.OwnCopy, workload.OwnIgnore, workload.OwnError}, WithOwnCells: true,
	},
	vramAlloc: {
		Name: "vram_alloc", Type: workload.Enum, Default: "device", Process: true,
		Values: []string{"device", "vmm", "pool"},
	},
}

// OwnBytes is the metric of what ranks copy within their own memory.
var OwnBytes = ownMetrics[0]

var ownMetrics = []workload.Metric{{Name: "bytes.own", Unit: "B", Better: workload.Neither, Fixed: true}}

// SetMatrix takes a matrix apart into what crosses between ranks and what each copies
// within its own memory.
func (t *Spec) SetMatrix(m *matrix.Matrix, ownCells any) error {
	crossing, own := m.Split()
	t.Matrix = crossing
	switch {
	case own == nil || ownCells == workload.OwnIgnore:
		return nil
	case ownCells == workload.OwnError:
		rank := own.Senders()[0]
		return fmt.Errorf("rank %d sends %v to itself, and own_cells is error", rank, quantity.Size(own.At(rank, rank)))
	case ownCells != workload.OwnCopy:
		return fmt.Errorf("option own_cells is %v", ownCells)
	}
	t.Own = own
	return nil
}

// OwnBytes is how many bytes a rank copies within its own memory in an iteration.
func (t Spec) OwnBytes(rank int) int64 {
	if t.Own == nil {
		return 0
	}
	return t.Own.At(rank, rank)
}
