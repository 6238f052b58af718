package move

import (
	"encoding/json"
	"fmt"

	"weir/fabric"
	"weir/matrix"
	"weir/quantity"
	"weir/workload"
)

// Spec is a movement of bytes between ranks: what a case of the workloads transfer, traffic
// and traffic_sequence asks of the runners that execute them.
type Spec struct {
	Fabric, Op, Initiator, Target, Pattern, Mode, Verify string
	Reuse, Pages, Payload                                string
	Alloc                                                string `json:",omitempty"` // "": fabric
	Wait                                                 string `json:",omitempty"` // "": poll
	VRAMAlloc                                            string `json:",omitempty"` // "": device
	// as ParseNUMA reads it; "": default
	NUMA                                                string `json:",omitempty"`
	Bidirectional                                       bool
	BlockSize                                           quantity.Size
	Batch, Iterations, Warmup, InFlight, Threads, Ranks int64
	Duration                                            quantity.Time // 0: Iterations decide
	// of workload traffic, where Pattern is MatrixPattern; nil: of transfer; see Large
	Matrix *matrix.Matrix `json:"-"`
	// cells of ranks with themselves, which Matrix has none of: what they copy; nil: there are none
	Own *matrix.Matrix `json:"-"`
	// descriptors of a cell, in workload traffic
	Shards int64 `json:",omitempty"`
	// of workload traffic_sequence; nil: of others
	Step *Step `json:",omitempty"`
	// FabricOptions are those that belong to Fabric; nil: it has none.
	FabricOptions fabric.Options     `json:",omitempty"`
	Sim           *fabric.Simulation `json:",omitempty"` // of a simulated fabric; nil: it moves bytes
}

// Runners of a Spec, by their names in package engine.
const (
	NativeRunner = "native"
	SimRunner    = "sim"
)

// Demand is what a case needs of a cluster.
func (t Spec) Demand() workload.Demand {
	d := workload.Demand{
		Runner: NativeRunner, Ranks: int(t.Ranks), Threads: max(1, int(t.Threads)), Fabric: t.Fabric, Lacks: t.Lacks,
		NUMA: t.Placement(), Memory: t.touched(), GPU: t.VRAM(),
	}
	if fabric.Simulated(t.Fabric) {
		d.Runner = SimRunner
	}
	return d
}

// touched are the bytes that a rank writes to before it is ready, at least.
func (t Spec) touched() uint64 {
	if t.Initiator == fabric.VRAM && t.Target == fabric.VRAM {
		return 0
	}
	bytes := uint64(t.BlockSize) * uint64(max(t.Batch, 1))
	if t.Matrix != nil {
		_, busiest := t.Matrix.Bottleneck()
		bytes = uint64(busiest)
	}
	if t.Own != nil {
		bytes += uint64(t.Own.Largest())
	}
	return bytes
}

// large is the part of a Spec that may have megabytes.
type large struct {
	Matrix *matrix.Matrix
	Own    *matrix.Matrix `json:",omitempty"`
}

// Large is the matrix of a case as JSON, nil if it has none.
func (t Spec) Large() (json.RawMessage, error) {
	if t.Matrix == nil {
		return nil, nil
	}
	return json.Marshal(large{t.Matrix, t.Own})
}

// SameLarge says whether another case has the same matrix.
func (t Spec) SameLarge(other workload.Spec) bool {
	o, ok := other.(*Spec)
	return ok && o.Matrix == t.Matrix && o.Own == t.Own
}

// Read reads what Spec and Large of a case were written as.
func Read(spec, matrices json.RawMessage) (Spec, error) {
	var t Spec
	if err := json.Unmarshal(spec, &t); err != nil {
		return t, fmt.Errorf("reading what a case moves: %w", err)
	}
	if len(matrices) > 0 {
		var l large
		if err := json.Unmarshal(matrices, &l); err != nil {
			return t, fmt.Errorf("reading the matrix of a case: %w", err)
		}
		t.Matrix, t.Own = l.Matrix, l.Own
	}
	return t, nil
}
