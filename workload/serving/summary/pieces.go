package summary

import (
	"cmp"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/serving/load"
)

const (
	pieces       = 16
	leastInPiece = 5 // requests: their mean latency varies
)

// Pieces returns requests per second and slot (1 / mean latency) of 16 equal parts of a load's successful requests, in
// the order of their starts. The first requests of a closed load, which start together, are left out. nil: too few.
func Pieces(records []load.Record, concurrency int) []float64 {
	var sent []*load.Record
	for i := range records {
		if r := &records[i]; r.Phase == load.Measured && r.Start != load.Never {
			sent = append(sent, r)
		}
	}
	slices.SortFunc(sent, func(a, b *load.Record) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Index, b.Index))
	})
	sent = slices.DeleteFunc(sent[min(concurrency, len(sent)):], func(r *load.Record) bool {
		took, ok := latency(r)
		return !succeeded(r) || !ok || took <= 0
	})
	if len(sent) < pieces*leastInPiece {
		return nil
	}
	out := make([]float64, pieces)
	for i := range out {
		var m mean
		for _, r := range sent[len(sent)*i/pieces : len(sent)*(i+1)/pieces] {
			took, _ := latency(r)
			m.add(took * ns)
		}
		out[i] = quantity.Round(m.n / m.sum)
	}
	return out
}
