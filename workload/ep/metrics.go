package ep

import (
	"fmt"
	"math"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/ep/routing"
)

const ns = 1e-9 // seconds

// fromIterations computes the metrics that follow from routes and iterations. The values of quantiles are added to d,
// which may be nil.
func fromIterations(
	s *Spec, a routing.Amounts, z sizes, parts []*Part, d results.Distributions,
) (map[string]float64, error) {
	counted, err := counted(s, parts)
	if err != nil {
		return nil, err
	}
	m := map[string]float64{}
	whole := func(it Iteration) (from, to int64) { return it.Start, it.End }
	all := spansOf(counted, whole)
	published(m, "", z.logical, all)
	m["bandwidth.min_rank"], m["bandwidth.max_rank"] = slices.Min(all.rates(z.logical)),
		slices.Max(all.rates(z.logical))
	m["latency.min"], m["latency.max"] = slices.Min(all.means)*ns, slices.Max(all.means)*ns
	quantiles(m, d, "", all.together, results.P50, results.P90, results.P99)
	if s.Mode == "e2e" {
		split(m, d, s, z, a, counted)
	}
	took := mean(all.together) // ns
	sent, dedup := z.wire()
	m["wire_bandwidth"], m["dedup_bandwidth"] = float64(sent)/took, float64(dedup)/took
	m["bytes.wire"], m["bytes.dedup"] = float64(sent), float64(dedup)
	logical, tokens := 0., 0.
	for rank, b := range z.logical {
		logical += float64(b) / float64(len(z.logical))
		tokens += float64(a.Tokens[rank])
	}
	m["bytes.logical"], m["tokens_per_second"] = logical, tokens/(took*ns)
	m["skew.p50"], m["skew.start"] = median(all.ends)*ns, median(all.starts)*ns
	phases(m, counted)
	received := make([]float64, len(a.Pairs))
	for _, row := range a.Pairs {
		for to, n := range row {
			received[to] += float64(n)
		}
	}
	if sum := mean(received); sum > 0 {
		m["imbalance"] = slices.Max(received) / sum
	}
	m["maxvio.reached"], m["ranks_per_token"] = a.MaxVio, a.Passed
	return m, finite(m)
}

// counted returns the iterations of each rank that count: equally many for all. With timing stream the first is
// dropped.
func counted(s *Spec, parts []*Part) ([][]Iteration, error) {
	if len(parts) != int(s.Ranks) {
		return nil, fmt.Errorf("results of %d ranks, expected %d", len(parts), s.Ranks)
	}
	list := make([][]Iteration, len(parts))
	for _, p := range parts {
		if p.Rank < 0 || p.Rank >= len(parts) || list[p.Rank] != nil {
			return nil, fmt.Errorf("results of rank %d are duplicate, or not of one of %d ranks", p.Rank, len(parts))
		}
		of := p.Iterations
		if s.Timing == "stream" && len(of) > 1 {
			of = of[1:]
		}
		if len(of) == 0 || len(p.Iterations) != len(parts[0].Iterations) {
			return nil, fmt.Errorf("rank %d has %d iterations, and rank %d %d", p.Rank, len(p.Iterations),
				parts[0].Rank, len(parts[0].Iterations))
		}
		for i, it := range of {
			if it.End < it.Turn || it.Turn < it.Start {
				return nil, fmt.Errorf("iteration %d of rank %d ends before it starts", i, p.Rank)
			}
		}
		list[p.Rank] = of
	}
	return list, nil
}

// spans are one part of all iterations, in ns.
type spans struct {
	means        []float64 // by rank: mean of its own spans
	together     []float64 // by iteration: from the first start to the last end of all ranks
	starts, ends []float64 // by iteration: skew of starts and of ends
}

func spansOf(ranks [][]Iteration, part func(Iteration) (from, to int64)) spans {
	s := spans{means: make([]float64, len(ranks))}
	for i := range ranks[0] {
		first, lastStart, firstEnd, last := int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64),
			int64(math.MinInt64)
		for r, list := range ranks {
			from, to := part(list[i])
			first, lastStart, firstEnd, last = min(first, from), max(lastStart, from), min(firstEnd, to), max(last, to)
			s.means[r] += float64(max(1, to-from)) / float64(len(list))
		}
		s.together = append(s.together, float64(max(1, last-first)))
		s.starts, s.ends = append(s.starts, float64(lastStart-first)), append(s.ends, float64(last-firstEnd))
	}
	return s
}

// rates returns the bytes of each rank divided by its own mean time, in GB/s.
func (s spans) rates(bytes []int64) []float64 {
	list := make([]float64, len(bytes))
	for r, b := range bytes {
		list[r] = float64(b) / s.means[r]
	}
	return list
}

// published adds bandwidth and mean latency as NIXL EP prints them: means over ranks.
func published(m map[string]float64, prefix string, bytes []int64, s spans) {
	m[prefix+"bandwidth"], m[prefix+"latency.avg"] = mean(s.rates(bytes)), mean(s.means)*ns
}

// split adds the metrics of the two operations of mode e2e.
func split(m map[string]float64, d results.Distributions, s *Spec, z sizes, a routing.Amounts, ranks [][]Iteration) {
	dispatched, combined := make([]int64, len(ranks)), make([]int64, len(ranks))
	for r, n := range a.Selections {
		dispatched[r] = int64(n) * s.logicalMessage()
		combined[r] = z.logical[r] - dispatched[r]
	}
	dispatch := spansOf(ranks, func(it Iteration) (from, to int64) { return it.Start, it.Turn })
	combine := spansOf(ranks, func(it Iteration) (from, to int64) { return it.Turn, it.End })
	published(m, "dispatch.", dispatched, dispatch)
	published(m, "combine.", combined, combine)
	quantiles(m, d, "dispatch.", dispatch.together, results.P50, results.P99)
	quantiles(m, d, "combine.", combine.together, results.P50, results.P99)
}

// phases adds the mean times of an iteration's phases, over ranks and iterations.
func phases(m map[string]float64, ranks [][]Iteration) {
	for _, list := range ranks {
		each := ns / float64(len(list)) / float64(len(ranks))
		for _, it := range list {
			m["phase.quantise"] += float64(it.Quantise) * each
			m["phase.send"] += float64(it.DispatchSend+it.CombineSend) * each
			m["phase.wait"] += float64(it.DispatchWait+it.CombineWait) * each
			m["phase.reduce"] += float64(it.Partial+it.Sum) * each
		}
	}
}

// addWaits adds the longest mean wait of a destination for a source.
func addWaits(m map[string]float64, parts []*Part) {
	for _, p := range parts {
		for _, list := range p.Waits {
			for source, w := range list {
				if source != p.Rank {
					m["wait.max"] = max(m["wait.max"], w.Mean)
				}
			}
		}
	}
}

// addHost adds the host metrics and the ceilings.
func addHost(m map[string]float64, z sizes, parts []*Part) {
	var ceilings []float64
	passed, best, memcpy, cpu, switches, total, bound := 0., 0., 0., 0., 0., 0., [2]float64{}
	for _, p := range parts {
		if p.Verified {
			passed++
		}
		out := toOthers(z.sent[p.Rank], p.Rank)
		total += float64(out) * float64(len(p.Iterations))
		memcpy += p.Memcpy
		cpu, switches = cpu+p.Usage.CPU, switches+float64(p.Usage.Switches)
		if p.Ceiling > 0 {
			ceilings = append(ceilings, p.Ceiling)
		}
		if p.CeilingBest > 0 && out > 0 {
			best = max(best, float64(out)/(m["latency.avg"]*p.CeilingBest))
		}
		for name, v := range map[string]float64{
			"prep.alloc": p.Prep.Alloc, "prep.register": p.Prep.Register, "prep.connect": p.Prep.Connect,
			"clock.resolution": p.Clock.Resolution, "clock.cost": p.Clock.Cost,
		} {
			m[name] = max(m[name], v)
		}
		switch b := p.Clock.Bound; {
		case b > bound[0]:
			bound = [2]float64{b, bound[0]}
		case b > bound[1]:
			bound[1] = b
		}
	}
	m["ranks_passed"], m["context_switches"], m["clock.bound"] = passed, switches, bound[0]+bound[1]
	if total > 0 {
		m["cpu_time_per_gb"] = cpu / (total / 1e9)
	}
	if memcpy > 0 {
		m["ceiling.memcpy"] = memcpy / 1e9
	}
	if len(ceilings) > 0 && total > 0 {
		path := median(ceilings)
		m["ceiling.bandwidth"], m["ceiling"], m["ceiling.best"] = path/1e9, m["wire_bandwidth"]*1e9/path, best
	}
}

var quantileNames = map[results.Quantile]string{results.P50: "p50", results.P90: "p90", results.P99: "p99"}

func quantiles(
	m map[string]float64, d results.Distributions, prefix string, times []float64, of ...results.Quantile,
) {
	times = slices.Sorted(slices.Values(times))
	d.Add(prefix+"latency", times, 0)
	for _, q := range of {
		m[prefix+"latency."+quantileNames[q]] = times[results.NearestRank(int64(len(times)), q)-1] * ns
	}
}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// median returns the median; the mean of the middle two of an even number.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func finite(m map[string]float64) error {
	for name, v := range m {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("metric %s is %v", name, v)
		}
	}
	return nil
}

// waitsOf returns the mean waits of all ranks for each other, in the operations of a case; nil if there are more ranks
// than a document lists.
func waitsOf(s *Spec, parts []*Part) (all []results.Waits) {
	if len(parts) > results.MostRanks {
		return nil
	}
	for i, operation := range []string{"dispatch", "combine"} {
		if s.Mode == operation || s.Mode == "e2e" {
			w := results.Waits{Operation: operation}
			for _, p := range parts {
				row := make([]float64, len(parts))
				for source, wait := range p.Waits[i][:min(len(row), len(p.Waits[i]))] {
					row[source] = wait.Mean
				}
				w.Mean = append(w.Mean, row)
			}
			all = append(all, w)
		}
	}
	return all
}
