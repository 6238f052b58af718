package rank

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
)

// Probe is what a probe process prints.
type Probe struct {
	Fabrics    map[string]results.Fabric `json:"fabrics"`
	StampClock string                    `json:"stamp_clock,omitempty"`
	GPUs       []results.GPU             `json:"gpus,omitempty"` // nil: unknown, because of GPUReason
	GPUReason  string                    `json:"gpu_reason,omitempty"`
	Error      string                    `json:"error,omitempty"`
}

// ProbeMain probes the named fabrics, all if none are named, prints a Probe and returns the exit status. It runs in a
// process of its own, because vendors' libraries cannot be unloaded.
func ProbeMain(w io.Writer, fabrics []string) int {
	var p Probe
	if e, err := engine.DefaultProber(); err != nil {
		p.Error = err.Error()
	} else {
		p.Fabrics = e.Probe(fabrics)
		if h, ok := e.(engine.HostProber); ok {
			p.StampClock = h.StampClock()
			p.GPUs, p.GPUReason = h.GPUs()
		}
	}
	if err := json.NewEncoder(w).Encode(p); err != nil {
		fmt.Fprintf(os.Stderr, "weir probe: %v\n", err)
		return 6
	}
	return 0
}
