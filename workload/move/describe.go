package move

import (
	"slices"
	"strings"

	"weir/results"
	"weir/workload"
)

// Describe decodes the parts of a launch and sets those members of it that follow from
// what its ranks say, whichever workload moved the bytes.
func Describe(m *workload.Measured, l *results.Launch) ([]*Part, error) {
	parts := make([]*Part, len(m.Parts))
	memory := make([][]int, len(m.Parts))
	var transports []string
	var used []results.Transport
	l.Verified = true
	for rank, encoded := range m.Parts {
		p, err := Decode(encoded)
		if err != nil {
			return nil, err
		}
		parts[rank], memory[rank] = p, p.MemoryNodes
		l.Verified = l.Verified && p.Verified
		if p.Transport != "" && !slices.Contains(transports, p.Transport) {
			transports = append(transports, p.Transport)
		}
		for _, t := range p.Transports {
			t.Ranks = []int{rank}
			used = append(used, t)
		}
		if p.Initiator && !slices.ContainsFunc(p.Transports, results.Transport.Data) {
			used = append(used, results.Transport{Use: results.DataUse, Ranks: []int{rank}})
		}
	}
	l.Transport, l.Transports = strings.Join(transports, ", "), results.MergeTransports(used)
	l.MemoryNodes = results.MemoryNodes(memory)
	l.WorkingSet = WorkingSet(parts, m.Nodes, m.Caches)
	l.Ranks, l.Initiators, l.SlowestPair = Shares(*m.Spec.(*Spec), parts)
	return parts, nil
}
