package results

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Seat is what a rank has of its node to itself.
type Seat struct {
	Rank int `json:"rank"`
	// as the kernel writes lists: 0-3,8; "": the scheduler decides
	CPUs string `json:"cpus,omitempty" doc:"As the kernel writes lists: 0-3,8."`
	// SharedCPUs are those that the rank is kept on and shares with others, where others have some
	// to themselves or a NUMA node is asked for.
	SharedCPUs string   `json:"shared_cpus,omitempty" doc:"Processors that the rank is kept on without having them to itself."`
	GPUs       []string `json:"gpus,omitempty" doc:"As CUDA_VISIBLE_DEVICES names them."`
	NICs       []string `json:"nics,omitempty" doc:"As UCX names devices."` // as UCX names devices: mlx5_0:1, eth0
	// NUMA are the nodes of memory that all of these are near, ascending; none where the
	// kernel does not say. More than one says that there was nothing left on a single one.
	NUMA []int `json:"numa,omitempty" doc:"The nodes of memory that these are near."`
	// Env are the environment variables that tell its libraries so, in documents of older
	// versions: Launch.Variables has them.
	Env map[string]string `json:"env,omitempty" doc:"The environment variables that tell its libraries so."`
}

// Empty says whether the rank has nothing to itself and may run on all processors.
func (s Seat) Empty() bool {
	return s.CPUs == "" && s.SharedCPUs == "" && len(s.GPUs)+len(s.NICs) == 0
}

// Processors are those that the rank is kept on; none: the scheduler decides.
func (s Seat) Processors() []int {
	if s.CPUs != "" {
		return ParseCPUs(s.CPUs)
	}
	return ParseCPUs(s.SharedCPUs)
}

// String is the seat in a line.
func (s Seat) String() string {
	return strings.TrimSuffix(fmt.Sprintf("rank %d, %s", s.Rank, s.Has()), ", ")
}

// Has is the seat in a line, without its rank.
func (s Seat) Has() string {
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

// Move says that a launch has another node than the ones before it had: its numbers
// come from other hardware.
type Move struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason"` // why not From
}

// String is the move in a line.
func (m Move) String() string {
	return fmt.Sprintf("node %s instead of %s: %s", m.To, m.From, m.Reason)
}

// mostCPUs is how many processors a list may name: beyond it is no machine.
const mostCPUs = 1 << 16

// ParseCPUs reads a list of processors as the kernel writes it, 0-3,8. What is none is
// left out.
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

// FormatCPUs writes processors as the kernel does.
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
