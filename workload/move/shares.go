package move

import (
	"cmp"
	"slices"

	"github.com/weir-bench/weir/results"
)

// Shares returns the work of each initiator by rank, and their number: of more than results.MostRanks only the slowest
// are listed. For a matrix it also returns the slowest pair, nil if nothing was stamped.
func Shares(o Spec, ranks []*Part) (list []results.RankShare, initiators int, slowest *results.Pair) {
	for _, r := range ranks {
		if r == nil || !r.Initiator {
			continue
		}
		s := results.RankShare{Rank: r.Rank}
		took := 0.
		if m := o.Matrix; m != nil {
			times := spansOf(r)
			for _, t := range times {
				took += float64(max(1, t.End-t.Start))
			}
			moved := int64(0)
			for cell := range m.Cells() {
				if o.Op == "read" && cell.To == r.Rank || o.Op != "read" && cell.From == r.Rank {
					moved += cell.Bytes
				}
			}
			s.Bytes = uint64(moved) * uint64(len(times))
			slowest = slowerPair(slowest, o, r)
		} else if r.Samples != nil {
			s.Bytes, took = r.Samples.Bytes, float64(r.Samples.End-r.Samples.Start)
		}
		if s.Bytes == 0 || took <= 0 {
			continue
		}
		s.Seconds, s.Bandwidth = took*1e-9, float64(s.Bytes)/took // bytes per ns are GB/s
		list = append(list, s)
	}
	initiators = len(list)
	if initiators > results.MostRanks {
		slices.SortStableFunc(list, func(a, b results.RankShare) int { return cmp.Compare(a.Bandwidth, b.Bandwidth) })
		list = slices.Clone(list[:results.SlowestRanks])
	}
	slices.SortFunc(list, func(a, b results.RankShare) int { return cmp.Compare(a.Rank, b.Rank) })
	return list, initiators, slowest
}

// spansOf returns the iterations of a rank that moves by a matrix, alone or in a sequence.
func spansOf(r *Part) []Span {
	if len(r.Iterations) > 0 {
		return r.Iterations
	}
	var out []Span
	for _, s := range r.Steps {
		if s.End > s.Start {
			out = append(out, Span{s.Start, s.End})
		}
	}
	return out
}

// slowerPair returns the slowest of a pair and those that a rank initiates to.
func slowerPair(slowest *results.Pair, o Spec, r *Part) *results.Pair {
	for _, d := range r.Delivered {
		p := results.Pair{From: r.Rank, To: d.Peer, Seconds: d.Mean}
		if o.Op == "read" {
			p.From, p.To = p.To, p.From
		}
		if p.Bytes = o.Matrix.At(p.From, p.To); p.Bytes == 0 || p.Seconds <= 0 {
			continue
		}
		p.Bandwidth = float64(p.Bytes) / p.Seconds / 1e9
		if slowest == nil || p.Bandwidth < slowest.Bandwidth {
			slowest = &p
		}
	}
	return slowest
}
