package epcontrol

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

const maxMemory = 1 << 42

// Spec are the options of a case.
type Spec struct {
	Fabric, Operation                              string
	Pages, Alloc, NUMA                             string
	Memory                                         string `json:",omitempty"` // "": dram
	VRAMAlloc                                      string `json:",omitempty"`
	Ranks, PerRank, Tokens, Hidden, Rounds, Warmup int64
	Storm                                          bool
	FabricOptions                                  fabric.Options `json:",omitempty"`
}

// Decode reads the values of a case; options that are absent have their defaults.
func Decode(v option.Values) (*Spec, error) {
	s := &Spec{}
	get := Kind.Get(v)
	err := get.Read(map[string]*string{
		"fabric": &s.Fabric, "operation": &s.Operation, "pages": &s.Pages, "alloc": &s.Alloc, "numa": &s.NUMA,
		"memory": &s.Memory, "vram_alloc": &s.VRAMAlloc,
	}, map[string]*int64{
		"ranks": &s.Ranks, "experts_per_rank": &s.PerRank, "tokens": &s.Tokens, "hidden": &s.Hidden,
		"rounds": &s.Rounds, "warmup": &s.Warmup,
	})
	if err != nil {
		return nil, err
	}
	s.Storm, _ = get("storm").(bool)
	if fabric.Simulated(s.Fabric) {
		return nil, fmt.Errorf("fabric %s has no model of connecting: use a fabric that moves bytes", s.Fabric)
	}
	if s.FabricOptions, err = fabric.Read(s.Fabric, get); err != nil {
		return nil, err
	}
	if err := s.Moves().CheckFabric(); err != nil {
		return nil, err
	}
	// as floats: products of large options exceed 64 bits
	if float64(s.Ranks*s.PerRank)*float64(s.Tokens)*float64(s.Hidden) > maxMemory {
		return nil, fmt.Errorf("a rank's buffers have more than %v", quantity.Size(maxMemory))
	}
	return s, nil
}

// Read decodes an encoded Spec.
func Read(spec json.RawMessage) (*Spec, error) {
	s := &Spec{}
	if err := json.Unmarshal(spec, s); err != nil {
		return nil, fmt.Errorf("reading a case of workload ep_control: %w", err)
	}
	return s, nil
}

// Moves returns the memory as a move.Spec, for the checks of fabrics.
func (s *Spec) Moves() move.Spec {
	memory := cmp.Or(s.Memory, "dram")
	return move.Spec{
		Fabric: s.Fabric, Op: "write", Initiator: memory, Target: memory, Pattern: move.MatrixPattern, Mode: "stream",
		VRAMAlloc: s.VRAMAlloc,
		Verify:    "sample", Pages: s.Pages, Alloc: s.Alloc, NUMA: s.NUMA, Ranks: s.Ranks, Iterations: s.Rounds,
		Batch: 1, Threads: 1, Shards: 1, InFlight: 1, FabricOptions: s.FabricOptions,
	}
}

// Demand returns the requirements of the case.
func (s *Spec) Demand() workload.Demand {
	d := workload.Demand{
		Runner: Runner, Ranks: int(s.Ranks), Threads: 1, Fabric: s.Fabric, Lacks: s.Moves().Lacks,
		NUMA: s.Moves().Placement(), GPU: s.VRAM(),
	}
	if source, sink := s.Buffers(); !s.VRAM() {
		d.Memory = uint64(source + sink)
	}
	return d
}

// VRAM reports whether the buffers are in GPU memory.
func (s *Spec) VRAM() bool { return s.Memory == fabric.VRAM }

// Buffers returns the bytes that a rank sends from and receives into: two of each, and a word for each expert of all
// ranks, as NIXL EP's get_rdma_size_hint computes them.
func (s *Spec) Buffers() (source, sink int64) {
	experts := s.Ranks * s.PerRank
	dispatched := 16 + max(2*s.Hidden, s.Hidden+4*s.Hidden/128)
	combined := 2*s.Hidden + 4*s.Hidden/128
	send := max(s.Tokens*dispatched, experts*s.Tokens*combined)
	receive := max(experts*s.Tokens*dispatched, experts*s.Tokens*combined)
	words := up(8 * experts)
	return 2 * send, up(2*(send+receive+words)) - 2*send
}

func up(n int64) int64 { return (n + 127) / 128 * 128 }

// Amount summarizes the memory of a rank.
func (behaviour) Amount(v option.Values) string {
	s, err := Decode(v)
	if err != nil {
		return ""
	}
	source, sink := s.Buffers()
	return fmt.Sprintf("%.3g GB a rank", float64(source+sink)/1e9)
}
