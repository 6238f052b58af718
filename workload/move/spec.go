package move

import (
	"encoding/json"
	"fmt"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
)

// Spec is a movement of bytes between ranks: the options of a case of workloads transfer, traffic and traffic_sequence
// for their runners.
type Spec struct {
	Fabric, Op, Initiator, Target, Pattern, Mode, Verify string
	Reuse, Pages, Payload                                string
	Alloc                                                string `json:",omitempty"` // "": fabric
	Wait                                                 string `json:",omitempty"` // "": poll
	VRAMAlloc                                            string `json:",omitempty"` // "": device
	// in the form of ParseNUMA; "": default
	NUMA                                                string `json:",omitempty"`
	Bidirectional                                       bool
	BlockSize                                           quantity.Size
	Batch, Iterations, Warmup, InFlight, Threads, Ranks int64
	Duration                                            quantity.Time // 0: Iterations decides
	// of workload traffic, with MatrixPattern; nil: of transfer; see Large
	Matrix *matrix.Matrix `json:"-"`
	// bytes that ranks copy to themselves, which Matrix lacks; nil: none
	Own *matrix.Matrix `json:"-"`
	// descriptors of a cell, in workload traffic
	Shards int64 `json:",omitempty"`
	// of workload traffic_sequence; nil: of others
	Step *Step `json:",omitempty"`
	// FabricOptions are the options of Fabric; nil: it has none.
	FabricOptions fabric.Options     `json:",omitempty"`
	Sim           *fabric.Simulation `json:",omitempty"` // of a simulated fabric; nil: bytes are moved
}

// Names of the runners of a Spec.
const (
	NativeRunner = "native"
	SimRunner    = "sim"
)

// Demand returns the requirements of the case.
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

// touched returns the bytes that a rank touches before it is ready, at least.
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

// large are the parts of a Spec that may have megabytes.
type large struct {
	Matrix *matrix.Matrix
	Own    *matrix.Matrix `json:",omitempty"`
}

// Large returns the matrix of a case as JSON, nil if it has none.
func (t Spec) Large() (json.RawMessage, error) {
	if t.Matrix == nil {
		return nil, nil
	}
	return json.Marshal(large{t.Matrix, t.Own})
}

// SameLarge reports whether another case has the same matrix.
func (t Spec) SameLarge(other workload.Spec) bool {
	o, ok := other.(*Spec)
	return ok && o.Matrix == t.Matrix && o.Own == t.Own
}

// Read decodes an encoded Spec and its Large part.
func Read(spec, matrices json.RawMessage) (Spec, error) {
	var t Spec
	if err := json.Unmarshal(spec, &t); err != nil {
		return t, fmt.Errorf("reading the options of a case: %w", err)
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
