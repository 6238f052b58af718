package results

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Binding is a rank's exclusive resources on its node.
type Binding struct {
	Rank int `json:"rank"`
	// as the kernel writes lists: 0-3,8; "": the scheduler decides
	CPUs string `json:"cpus,omitempty" doc:"As the kernel writes lists: 0-3,8."`
	// SharedCPUs is the affinity of a rank without exclusive processors, if others have some or a NUMA node is
	// requested.
	SharedCPUs string   `json:"shared_cpus,omitempty" doc:"Processors that the rank is kept on without having them to itself."`
	GPUs       []string `json:"gpus,omitempty" doc:"As CUDA_VISIBLE_DEVICES names them."`
	NICs       []string `json:"nics,omitempty" doc:"As UCX names devices."` // as UCX names devices: mlx5_0:1, eth0
	// NUMA are the memory nodes near all of these, ascending; none if unknown. Several mean that no single
	// node had enough free resources.
	NUMA []int `json:"numa,omitempty" doc:"The nodes of memory that these are near."`
	// Env are the environment variables that restrict its libraries, in documents of older versions:
	// Launch.Variables has them now.
	Env map[string]string `json:"env,omitempty" doc:"The environment variables that tell its libraries so."`
}

// Empty reports whether the rank has nothing exclusive and may run on all processors.
func (s Binding) Empty() bool {
	return s.CPUs == "" && s.SharedCPUs == "" && len(s.GPUs)+len(s.NICs) == 0
}

// Processors is the affinity of the rank; none: the scheduler decides.
func (s Binding) Processors() []int {
	if s.CPUs != "" {
		return ParseCPUs(s.CPUs)
	}
	return ParseCPUs(s.SharedCPUs)
}

// String is the binding in one line.
func (s Binding) String() string {
	return strings.TrimSuffix(fmt.Sprintf("rank %d, %s", s.Rank, s.Details()), ", ")
}

// Details is the binding in one line, without its rank.
func (s Binding) Details() string {
	var parts []string
	add := func(what string, values ...string) {
		if text := strings.Join(values, ","); text != "" {
			parts = append(parts, what+" "+text)
		}
	}
	add("CPUs", s.CPUs)
	add("shared CPUs", s.SharedCPUs)
	add("GPUs", s.GPUs...)
	add("NICs", s.NICs...)
	for _, n := range s.NUMA {
		add("NUMA node", fmt.Sprint(n))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		parts = append(parts, name+"="+s.Env[name])
	}
	return strings.Join(parts, ", ")
}

// Move says that a launch has another node than earlier ones: its numbers come from other hardware.
type Move struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason"` // why not From
}

// String is the move in one line.
func (m Move) String() string {
	return fmt.Sprintf("node %s instead of %s: %s", m.To, m.From, m.Reason)
}

// mostCPUs limits processor numbers to realistic ones.
const mostCPUs = 1 << 16

// ParseCPUs parses a kernel list of processors, 0-3,8. Invalid parts are ignored.
func ParseCPUs(text string) []int {
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(from)
		last := first
		if isRange && err == nil {
			last, err = strconv.Atoi(to)
		}
		if err != nil || first < 0 || last >= mostCPUs {
			continue
		}
		for c := first; c <= last && len(all) < mostCPUs; c++ {
			all = append(all, c)
		}
	}
	return all
}

// FormatCPUs formats a list of processors as the kernel does.
func FormatCPUs(cpus []int) string {
	cpus = slices.Compact(slices.Sorted(slices.Values(cpus)))
	var parts []string
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		part := strconv.Itoa(cpus[i])
		if j > i {
			part += "-" + strconv.Itoa(cpus[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
