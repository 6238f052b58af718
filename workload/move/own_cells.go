package move

import (
	"fmt"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
)

// OwnCells is option own_cells of workloads that move matrices.
func OwnCells(process bool) option.Option {
	o := options[ownCells]
	o.Process = process
	return o
}

// Indices in options.
const (
	ownCells = iota
	vramAlloc
)

// options are shared by several workloads.
var options = []option.Option{
	ownCells: {
		Name: "own_cells", Type: option.Enum, Default: option.OwnCopy,
		Values: []string{option.OwnCopy, option.OwnIgnore, option.OwnError},
		Where:  option.OnlyWhere{OwnCells: true},
	},
	vramAlloc: {
		Name: "vram_alloc", Type: option.Enum, Default: "device", Process: true,
		Values: []string{"device", "vmm", "pool"},
	},
}

// OwnBytes is the metric of the bytes that ranks copy within their own memory.
var OwnBytes = ownMetrics[0]

var ownMetrics = []workload.Metric{{Name: "bytes.own", Unit: "B", Better: workload.Neither, Fixed: true}}

// SetMatrix splits a matrix into the cells between ranks and the bytes that each rank copies within its own memory.
func (t *Spec) SetMatrix(m *matrix.Matrix, ownCells any) error {
	crossing, own := m.Split()
	t.Matrix = crossing
	switch {
	case own == nil || ownCells == option.OwnIgnore:
		return nil
	case ownCells == option.OwnError:
		rank := own.Senders()[0]
		return fmt.Errorf("rank %d sends %v to itself, and own_cells is error", rank, quantity.Size(own.At(rank, rank)))
	case ownCells != option.OwnCopy:
		return fmt.Errorf("option own_cells is %v", ownCells)
	}
	t.Own = own
	return nil
}

// OwnBytes returns the bytes that a rank copies within its own memory in an iteration.
func (t Spec) OwnBytes(rank int) int64 {
	if t.Own == nil {
		return 0
	}
	return t.Own.At(rank, rank)
}
