package move

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Describe decodes the parts of a launch and sets the fields of the launch that follow from them, for all workloads
// that move bytes.
func Describe(m *workload.Measured, l *results.Launch) ([]*Part, error) {
	parts := make([]*Part, len(m.Parts))
	for rank, encoded := range m.Parts {
		p, err := Decode(encoded)
		if err != nil {
			return nil, err
		}
		parts[rank] = p
	}
	DescribeParts(m, l, parts)
	l.Ranks, l.Initiators, l.SlowestPair = Shares(*m.Spec.(*Spec), parts)
	return parts, nil
}

// DescribeParts sets the fields of a launch that do not depend on what is moved: whether it was verified, its
// transports, and the placement of its memory.
func DescribeParts(m *workload.Measured, l *results.Launch, parts []*Part) {
	memory := make([][]int, len(parts))
	gpus := make([]string, len(parts))
	var transports []string
	var used []results.Transport
	var facts []results.ProviderFact
	var libraries []results.Library
	l.Verified = true
	for rank, p := range parts {
		memory[rank], gpus[rank] = p.MemoryNodes, p.GPU
		l.Verified = l.Verified && p.Verified
		for _, c := range p.GPUCounters {
			if c.Node = m.Nodes[rank]; !slices.Contains(l.Counters, c) { // ranks may share a GPU
				l.Counters = append(l.Counters, c)
			}
		}
		if p.Transport != "" && !slices.Contains(transports, p.Transport) {
			transports = append(transports, p.Transport)
		}
		for _, t := range p.Transports {
			t.Ranks = []int{rank}
			used = append(used, t)
		}
		for _, f := range p.Provider {
			f.Ranks = []int{rank}
			facts = append(facts, f)
		}
		for _, library := range p.Libraries {
			library.Ranks = []int{rank}
			libraries = append(libraries, library)
		}
		if p.Initiator && !slices.ContainsFunc(p.Transports, results.Transport.Data) {
			used = append(used, results.Transport{Use: results.DataUse, Ranks: []int{rank}})
		}
	}
	l.Transport, l.Transports = strings.Join(transports, ", "), results.MergeTransports(used)
	l.Provider = results.MergeProviderFacts(facts)
	l.Libraries = results.MergeLibraries(libraries)
	l.MemoryNodes = results.MemoryNodes(memory)
	results.SortCounters(l.Counters)
	if ranks := processorsOf(parts); len(ranks) > 0 {
		if l.Processors == nil {
			l.Processors = &results.Processors{}
		}
		l.Processors.SetRanks(ranks)
	}
	if slices.ContainsFunc(gpus, func(name string) bool { return name != "" }) {
		l.GPUs = gpus
	}
	l.WorkingSet = WorkingSet(parts, m.Nodes, m.Caches)
}
