package results

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// GPU is one accelerator. Name, driver and bus address come from the kernel, the rest from NVIDIA's
// management library.
type GPU struct {
	Name   string `json:"name"`
	Driver string `json:"driver,omitempty"` // its version
	Bus    string `json:"bus,omitempty"`    // PCI address
	NUMA   *int   `json:"numa,omitzero"`
	Memory int64  `json:"memory,omitzero" doc:"Bytes."`
	// Used and Processes are those of others: the node is described before ranks start.
	Used      int64      `json:"used,omitzero" doc:"Bytes of its memory that were in use when the node was described."`
	Processes *int       `json:"processes,omitzero" doc:"Processes that used it when the node was described; absent: its library does not tell." schema:"minimum=0"`
	Clocks    *GPUClocks `json:"clocks,omitzero" doc:"MHz: what they were when the node was described, and what they may be."`
	ECC       string     `json:"ecc,omitempty" schema:"enum=on|off"`
	Power     *GPUPower  `json:"power,omitzero" doc:"W: what the GPU is limited to, and what it would be by default."`
	NVLink    *NVLink    `json:"nvlink,omitzero" doc:"How many of its links to other GPUs there are, and work."`
	Fault     string     `json:"fault,omitempty" doc:"What could not be asked of it, and why."`
}

// GPUClocks are in MHz: when the node was described, possibly idle, and their maxima.
type GPUClocks struct {
	SM        int `json:"sm,omitzero"`
	SMMax     int `json:"sm_max,omitzero"`
	Memory    int `json:"memory,omitzero"`
	MemoryMax int `json:"memory_max,omitzero"`
}

// GPUPower is in W: the enforced limit and the default one.
type GPUPower struct {
	Limit   float64 `json:"limit" schema:"minimum=0"`
	Default float64 `json:"default,omitzero" schema:"minimum=0"`
}

// NVLink counts a GPU's links to others, and the active ones.
type NVLink struct {
	Links int `json:"links"`
	Up    int `json:"up"`
}

// Lasting is the GPU without momentary values.
func (g GPU) Lasting() GPU {
	g.Used, g.Processes = 0, nil
	if g.Clocks != nil {
		g.Clocks = &GPUClocks{SMMax: g.Clocks.SMMax, MemoryMax: g.Clocks.MemoryMax}
	}
	return g
}

// Words describe the GPU for a reader.
func (g GPU) Words() string {
	var out []string
	add := func(there bool, format string, args ...any) {
		if there {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(g.Name != "", "%s", g.Name)
	add(g.Driver != "", "driver %s", g.Driver)
	add(g.Memory > 0, "%s GiB", quantity.Digits(float64(g.Memory)/(1<<30), 3))
	add(g.Processes != nil && *g.Processes > 0, "used by others: %s GiB", quantity.Digits(float64(g.Used)/(1<<30), 3))
	if c := g.Clocks; c != nil {
		add(c.SM > 0, "SM at %d of %d MHz", c.SM, c.SMMax)
		add(c.Memory > 0, "memory at %d of %d MHz", c.Memory, c.MemoryMax)
	}
	add(g.ECC != "", "ECC %s", g.ECC)
	if p := g.Power; p != nil {
		add(true, "at most %s W", quantity.Digits(p.Limit, 3))
		add(p.Default > 0 && p.Default != p.Limit, "by default %s W", quantity.Digits(p.Default, 3))
	}
	if l := g.NVLink; l != nil {
		add(true, "%d of %d NVLinks up", l.Up, l.Links)
	}
	add(g.Bus != "", "%s", g.Bus)
	add(g.Fault != "", "fault: %s", g.Fault)
	return strings.Join(out, ", ")
}
