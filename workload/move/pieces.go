package move

import (
	"math"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// piecesOfLaunch is the number of equal parts of a launch for which bandwidths are kept.
const piecesOfLaunch = 16

// Pieces returns the bandwidths (GB/s) of all initiators together in equal parts of the time in which all of them
// moved; nil if an initiator has too few points of progress in it, or there is no such time.
func Pieces(parts []*Part) []float64 {
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	var all []*results.Samples
	for _, p := range parts {
		if p.Initiator && p.Samples != nil {
			all = append(all, p.Samples)
			from, to = max(from, p.Samples.Start), min(to, p.Samples.End)
		}
	}
	if len(all) == 0 || to-from < piecesOfLaunch {
		return nil
	}
	for _, s := range all {
		within := 0
		for _, p := range s.Progress {
			if p.Time >= from && p.Time <= to {
				within++
			}
		}
		if within < piecesOfLaunch {
			return nil
		}
	}
	out := make([]float64, piecesOfLaunch)
	at := func(i int) int64 { return from + int64(float64(to-from)*float64(i)/piecesOfLaunch) }
	for i := range out {
		moved := 0.
		for _, s := range all {
			moved += Completed(s, at(i+1)) - Completed(s, at(i))
		}
		out[i] = quantity.Round(moved / float64(at(i+1)-at(i)))
	}
	if slices.Min(out) <= 0 {
		return nil
	}
	return out
}

// PiecesOfIterations returns the bandwidths (GB/s) in equal parts of a launch's iterations, which took these times (ns)
// for the given bytes each; nil if there are fewer iterations than parts.
func PiecesOfIterations(took []float64, bytes float64) []float64 {
	if len(took) < piecesOfLaunch || bytes <= 0 {
		return nil
	}
	out := make([]float64, piecesOfLaunch)
	for i := range out {
		from, to := len(took)*i/piecesOfLaunch, len(took)*(i+1)/piecesOfLaunch
		sum := 0.
		for _, t := range took[from:to] {
			sum += t
		}
		out[i] = quantity.Round(bytes * float64(to-from) / sum)
	}
	return out
}
