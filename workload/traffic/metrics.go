package traffic

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

// Metrics computes the metrics of a case of workload traffic in one launch, in the units of Kind. An iteration lasts
// from the first start to the last end of all initiating ranks on their common clock. The values of quantiles are added
// to d, which may be nil.
func Metrics(o move.Spec, ranks []*move.Part, d results.Distributions) (map[string]float64, error) {
	movers, err := Movers(o, ranks)
	if err != nil {
		return nil, err
	}
	copiers, err := Copiers(o, ranks)
	if err != nil {
		return nil, err
	}
	latencies, skews, err := Iterations(movers, copiers)
	if err != nil {
		return nil, err
	}
	avg := Mean(latencies) * ns
	_, busiest := o.Matrix.Bottleneck()
	total, bottleneck := float64(o.Matrix.Total()), float64(busiest)/avg
	m := map[string]float64{
		"latency.avg":          avg,
		"bandwidth":            total / avg / 1e9,
		"bytes":                total,
		"senders":              float64(len(senders(o))),
		"receivers":            float64(len(o.Matrix.Receivers())),
		"bottleneck.bytes":     float64(busiest),
		"bottleneck.bandwidth": bottleneck / 1e9,
	}
	if o.Own != nil { // cells of ranks with themselves
		m["bytes.own"] = float64(o.Own.Total())
	}
	d.Add("latency", latencies, 0)
	Quantiles(m, "latency.", latencies, map[string]results.Quantile{
		"min": results.Minimum, "p50": results.P50, "p90": results.P90, "p95": results.P95, "p99": results.P99,
		"max": results.Maximum,
	})
	Skewness(m, skews)
	Own(m, movers)
	served(m, movers, o)
	ceilings(m, movers, bottleneck, avg)
	host(m, ranks, total*float64(len(latencies)))
	return m, Finite(m)
}

const ns = 1e-9 // seconds

// Quantiles adds the quantiles of times in ns, which it sorts.
func Quantiles(m map[string]float64, prefix string, times []float64, of map[string]results.Quantile) {
	slices.Sort(times)
	for name, q := range of {
		m[prefix+name] = times[results.NearestRank(int64(len(times)), q)-1] * ns
	}
}

// Skewness adds the skew of iterations, given in ns.
func Skewness(m map[string]float64, skews []float64) {
	m["skew"] = slices.Max(skews) * ns
	Quantiles(m, "skew.", skews, map[string]results.Quantile{"p50": results.P50})
}

// Finite fails for a metric that is not a finite number.
func Finite(m map[string]float64) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if math.IsNaN(m[name]) || math.IsInf(m[name], 0) {
			return fmt.Errorf("metric %s is %v", name, m[name])
		}
	}
	return nil
}

// Mover is an initiating rank, with the bytes that it moves in an iteration.
type Mover struct {
	*move.Part
	Bytes float64
}

// Movers returns the initiating ranks of the matrix, all of which have spans.
func Movers(o move.Spec, ranks []*move.Part) ([]Mover, error) {
	bytes := make([]int64, o.Matrix.Ranks())
	for c := range o.Matrix.Cells() {
		if o.Op == "read" {
			bytes[c.To] += c.Bytes
		} else {
			bytes[c.From] += c.Bytes
		}
	}
	var movers []Mover
	measured := make([]bool, len(bytes))
	for _, r := range ranks {
		if r.Rank < 0 || r.Rank >= len(bytes) {
			return nil, fmt.Errorf("rank %d is not one of the %d ranks of the matrix", r.Rank, len(bytes))
		}
		if bytes[r.Rank] > 0 && len(r.Iterations) > 0 {
			measured[r.Rank] = true
			movers = append(movers, Mover{r, float64(bytes[r.Rank])})
		}
	}
	if len(movers) == 0 {
		return nil, fmt.Errorf("no rank has iterations")
	}
	for rank, b := range bytes {
		if b > 0 && !measured[rank] {
			return nil, fmt.Errorf("rank %d has no iterations, and it moves %d bytes in each", rank, b)
		}
	}
	return movers, nil
}

// Copiers returns the ranks that copy their own cell and initiate nothing.
func Copiers(o move.Spec, ranks []*move.Part) ([]Mover, error) {
	var copiers []Mover
	for _, r := range ranks {
		switch {
		case o.OwnBytes(r.Rank) == 0 || o.Initiates(r.Rank):
		case len(r.Iterations) == 0:
			return nil, fmt.Errorf("rank %d has no iterations, and it copies %d bytes in each", r.Rank,
				o.OwnBytes(r.Rank))
		default:
			copiers = append(copiers, Mover{Part: r})
		}
	}
	return copiers, nil
}

// Iterations returns the time of each iteration, including copies within ranks, and its start skew over the initiating
// ranks, in ns.
func Iterations(movers, copiers []Mover) (latencies, skews []float64, err error) {
	latencies = make([]float64, len(movers[0].Iterations))
	all := slices.Concat(movers, copiers)
	for _, m := range all {
		if len(m.Iterations) != len(latencies) {
			return nil, nil, fmt.Errorf("rank %d has %d iterations and rank %d %d", movers[0].Rank, len(latencies),
				m.Rank, len(m.Iterations))
		}
	}
	for i := range latencies {
		first, latest, end := int64(math.MaxInt64), int64(math.MinInt64), int64(math.MinInt64)
		begun := first
		for k, m := range all {
			s := m.Iterations[i]
			if k < len(movers) {
				begun, latest = min(begun, s.Start), max(latest, s.Start)
			}
			if s.End < s.Start {
				return nil, nil, fmt.Errorf("iteration %d of rank %d ends %d ns before it starts", i, m.Rank,
					s.Start-s.End)
			}
			first, end = min(first, s.Start), max(end, s.End)
		}
		latencies[i] = float64(max(1, end-first)) // below the resolution of the clock
		skews = append(skews, float64(latest-begun))
	}
	return latencies, skews, nil
}

// Own adds the bandwidth of each mover.
func Own(m map[string]float64, movers []Mover) {
	sum, least := 0., math.Inf(1)
	for _, r := range movers {
		took := 0.
		for _, s := range r.Iterations {
			took += float64(max(1, s.End-s.Start)) / float64(len(r.Iterations))
		}
		sum += r.Bytes / took
		least = min(least, r.Bytes/took)
	}
	m["bandwidth.per_sender"] = sum / float64(len(movers)) // bytes per ns are GB/s
	m["bandwidth.min_sender"] = least
}

// served adds the bandwidth of each target rank: its bytes divided by the mean time until its last cell is delivered.
func served(m map[string]float64, movers []Mover, o move.Spec) {
	until, bytes := map[int]float64{}, map[int]float64{}
	for _, r := range movers {
		for _, d := range r.Delivered {
			from, to := r.Rank, d.Peer
			if o.Op == "read" {
				from, to = to, from
			}
			bytes[d.Peer] += float64(o.Matrix.At(from, to))
			until[d.Peer] = max(until[d.Peer], d.Mean)
		}
	}
	if len(until) == 0 {
		return
	}
	sum, least, longest := 0., math.Inf(1), 0.
	for peer, took := range until {
		took = max(took, ns)
		sum += bytes[peer] / took
		least = min(least, bytes[peer]/took)
		longest = max(longest, took)
	}
	m["bandwidth.per_receiver"] = sum / float64(len(until)) / 1e9
	m["bandwidth.min_receiver"] = least / 1e9
	m["latency.max_receiver"] = longest
}

// ceilings compares the bottleneck with the path of one initiator. Whether a measurement is impossible is judged by the
// initiators alone, each by the best rate of its own path: several initiators together may move more into one target
// than one of them can.
func ceilings(m map[string]float64, movers []Mover, bottleneck, avg float64) {
	var paths []float64
	best, memcpy := 0., 0.
	for _, r := range movers {
		if r.Ceiling != 0 {
			paths = append(paths, r.Ceiling)
		}
		if r.CeilingBest != 0 {
			best = max(best, r.Bytes/avg/r.CeilingBest)
		}
		memcpy += r.Memcpy
	}
	if len(paths) > 0 {
		slices.Sort(paths)
		n := len(paths)
		path := (paths[(n-1)/2] + paths[n/2]) / 2
		m["ceiling"] = bottleneck / path
		m["ceiling.bandwidth"] = path / 1e9
	}
	if best != 0 {
		m["ceiling.best"] = best
	}
	if memcpy != 0 {
		m["ceiling.memcpy"] = memcpy / 1e9
	}
}

// host adds the host metrics of all ranks, including those that do not move.
func host(m map[string]float64, ranks []*move.Part, moved float64) {
	var prep move.Prep
	var clock move.Clock
	var used move.Usage
	var listed move.Stage
	prepare := 0.
	for _, r := range ranks {
		prep.Alloc = max(prep.Alloc, r.Prep.Alloc)
		prep.Register = max(prep.Register, r.Prep.Register)
		prep.Connect = max(prep.Connect, r.Prep.Connect)
		prepare = max(prepare, r.Stages.Prepare)
		listed.Add(r.Stages.Listed)
		clock.Resolution = max(clock.Resolution, r.Clock.Resolution)
		clock.Cost = max(clock.Cost, r.Clock.Cost)
		used.CPU += r.Usage.CPU
		used.Switches += r.Usage.Switches
	}
	m["prep.alloc"], m["prep.register"], m["prep.connect"], m["prep.request"] = prep.Alloc, prep.Register, prep.Connect,
		prepare
	if listed.Stamps > 0 {
		m["prep.lists"] = listed.Mean
	}
	m["cpu_time_per_gb"] = used.CPU / (moved / 1e9)
	m["context_switches"] = float64(used.Switches)
	m["clock.resolution"], m["clock.cost"], m["clock.bound"] = clock.Resolution, clock.Cost, move.ClockBound(ranks)
}

// Mean is the arithmetic mean.
func Mean(values []float64) float64 {
	sum := 0.
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// senders counts the ranks with anything to send, to others or to themselves.
func senders(o move.Spec) []int {
	all := o.Matrix.Senders()
	if o.Own != nil {
		all = append(slices.Clone(all), o.Own.Senders()...)
		slices.Sort(all)
		all = slices.Compact(all)
	}
	return all
}
