package gate

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// Launches with the same number in several cases are paired if the cases were interleaved: all began
// launch i before any began launch i+1. Cases that share a launch are, and so are runs that alternate (A0
// B0 B1 A1 …). Noise that affects a launch, or its minutes, then cancels in a ratio and adds up in a mean.
// Start times show it; without them launches are not paired.

// spread sets the variance of the estimate and its degrees of freedom. Within a cluster of interleaved
// sources it is cluster-robust over launch numbers,
//
//	V = Σ_i (Σ_k (z_ki − mean z_k)/√(n_k(n_k−1)))²,
//
// which for equal n is the variance of paired differences, var(Σ_k z_ki)/n, and for a single source
// var(z)/n. Its degrees of freedom are those of the source with fewest launches. Clusters are independent:
// variances add up, with Welch and Satterthwaite's degrees of freedom. Sources: Liang and Zeger,
// Biometrika 73 (1986); Welch, Biometrika 34 (1947).
func (c *combination) spread(variables []*variable, weights []float64) error {
	if c.n < 2 && !c.lent() {
		return nil // one launch has no spread
	}
	c.df = 0
	sum, welch, most := 0.0, 0.0, 0.0
	add := func(cluster []int, v, df float64) {
		sum += v
		welch += v * v / df
		if c.sources[cluster[0]].c == nil {
			c.stored = c.stored.plus(meanSquare{v, df})
		}
	}
	for _, cluster := range c.clusters {
		if s := c.sources[cluster[0]]; len(s.launches) < 2 {
			v, df, err := c.borrowedNoise(cluster, variables, weights)
			if err != nil {
				return err
			}
			add(cluster, v, df)
			most = df
			continue
		}
		v, df := c.clusterVariance(cluster)
		if lent, of, larger := c.lentNoise(cluster, v, variables, weights); larger {
			v, df, most = lent, of, of
		}
		add(cluster, v, df)
	}
	c.variance = sum
	if sum == 0 {
		return nil
	}
	c.df = sum * sum / welch
	if most > 0 { // borrowed noise is not independent
		c.df = min(c.df, most)
	}
	return nil
}

func (c *combination) clusterVariance(cluster []int) (v, df float64) {
	byLaunch := map[int]float64{}
	df = float64(len(c.z[cluster[0]]) - 1)
	for _, i := range cluster {
		n := float64(len(c.z[i]))
		df = min(df, n-1)
		mean, _ := moments(c.z[i])
		for j, l := range c.sources[i].launches {
			byLaunch[l.Index] += (c.z[i][j] - mean) / math.Sqrt(n*(n-1))
		}
	}
	for _, i := range slices.Sorted(maps.Keys(byLaunch)) {
		v += byLaunch[i] * byLaunch[i]
	}
	return v, df
}

// lent reports whether every source of a single launch has a donor of several.
func (c *combination) lent() bool {
	return !slices.ContainsFunc(c.sources, func(s *source) bool { return len(s.launches) < 2 && len(s.donor) < 2 })
}

// mostAlike is the number of launches up to which their agreement may be chance.
const mostAlike = 3

// lentNoise is the variance of two or three launches of one of two sessions if the other session, which has more,
// shows a larger one: so few agree by chance, and Welch's degrees of freedom then take them for certain.
func (c *combination) lentNoise(
	cluster []int, own float64, variables []*variable, weights []float64,
) (v, df float64, larger bool) {
	n := len(c.sources[cluster[0]].launches)
	for _, i := range cluster {
		if s := c.sources[i]; n > mostAlike || len(s.launches) != n || len(s.donor) <= n {
			return 0, 0, false
		}
	}
	v, df, err := c.borrowedNoise(cluster, variables, weights)
	v /= float64(n)
	return v, df, err == nil && v > own
}

// borrowedNoise is the variance of sources of a single launch. A baseline is assumed to be as noisy as the same case
// in this session, and a case as its baseline, which gives the prediction interval of a single new launch.
func (c *combination) borrowedNoise(
	cluster []int, variables []*variable, weights []float64,
) (v, df float64, err error) {
	for _, i := range cluster {
		s := c.sources[i]
		if len(s.donor) < 2 {
			return 0, 0, reasonError{s.reason(results.Because(results.BaselineSingle))}
		}
		z := make([]float64, len(s.donor))
		for k, x := range variables {
			if x.source != i {
				continue
			}
			lent, err := newVariable(c.metrics, i, &source{key: s.key, launches: s.donor}, x.leaf, c.log)
			if err != nil {
				return 0, 0, reasonError{reasonOf(err).In(s.key)}
			}
			for j, value := range lent.values {
				z[j] += weights[k] * lent.deviation(value, c.log)
			}
		}
		_, sd := moments(z)
		v += sd * sd
		if n := float64(len(z) - 1); df == 0 || n < df {
			df = n
		}
	}
	return v, df, nil
}

// clusters partitions sources into interleaved ones. Baselines have no start times; those with equal
// numbers of launches form one cluster, which assumes least.
func clusters(sources []*source) [][]int {
	var out [][]int
	var bounds [][]span
	stored := map[int]int{} // cluster of baselines, by number of launches
next:
	for i, s := range sources {
		if s.c == nil {
			k, ok := stored[len(s.launches)]
			if !ok {
				k = len(out)
				stored[len(s.launches)] = k
				out, bounds = append(out, nil), append(bounds, nil)
			}
			out[k] = append(out[k], i)
			continue
		}
		mine := spans(s.launches)
		for k := range out {
			if interleaved(bounds[k], mine) {
				out[k], bounds[k] = append(out[k], i), joined(bounds[k], mine)
				continue next
			}
		}
		out, bounds = append(out, []int{i}), append(bounds, mine)
	}
	return out
}

// span is the first and last start of the launches of one number, in nanoseconds.
type span struct {
	number      int
	first, last int64
}

// spans returns the starts of launches in the order of their numbers; nil if a launch has none.
func spans(launches []*results.Launch) []span {
	out := make([]span, 0, len(launches))
	for _, l := range byIndex(launches) {
		if l.Started.IsZero() {
			return nil
		}
		at := l.Started.UnixNano()
		out = append(out, span{l.Index, at, at})
	}
	return out
}

// interleaved reports whether two sides were interleaved over their common launches. There must be two of these.
func interleaved(a, b []span) bool {
	common, before := 0, int64(math.MinInt64)
	for len(a) > 0 || len(b) > 0 {
		s, both := nextSpan(&a, &b)
		if before >= s.first {
			return false
		}
		if before = s.last; both {
			common++
		}
	}
	return common >= 2
}

// joined are the spans of both sides together.
func joined(a, b []span) []span {
	out := make([]span, 0, max(len(a), len(b)))
	for len(a) > 0 || len(b) > 0 {
		s, _ := nextSpan(&a, &b)
		out = append(out, s)
	}
	return out
}

// nextSpan takes the launches of the lowest number from both sides.
func nextSpan(a, b *[]span) (s span, both bool) {
	take := func(from *[]span) span {
		s := (*from)[0]
		*from = (*from)[1:]
		return s
	}
	switch {
	case len(*b) == 0 || len(*a) > 0 && (*a)[0].number < (*b)[0].number:
		return take(a), false
	case len(*a) == 0 || (*b)[0].number < (*a)[0].number:
		return take(b), false
	}
	x, y := take(a), take(b)
	return span{x.number, min(x.first, y.first), max(x.last, y.last)}, true
}

// method says how launches of several cases were combined, and of several runs whether these were
// interleaved: interleaved cases within one run pair nothing between runs.
func (c *combination) method() []results.Reason {
	sources := c.sources
	cases, groups, baselines, mixed, timed := 0, 0, 0, false, true
	imported := false
	var all []string // runs
	for _, cluster := range c.clusters {
		if sources[cluster[0]].c == nil {
			baselines += len(cluster)
			imported = imported || sources[cluster[0]].imported
			continue
		}
		cases += len(cluster)
		groups++
		first := sources[cluster[0]].c.Run
		for _, i := range cluster {
			run := sources[i].c.Run
			mixed = mixed || run != first
			timed = timed && spans(sources[i].launches) != nil
			if !slices.Contains(all, run) {
				all = append(all, run)
			}
		}
	}
	how := results.Because(results.UnpairedCases)
	switch {
	case baselines > 0 && cases < 2:
	case len(all) > 1 && !mixed && timed:
		slices.Sort(all)
		last := len(all) - 1
		how = results.Because(results.RunsNotInterleaved, results.Text("runs", strings.Join(all[:last], ", ")),
			results.Text("last", all[last]))
	case groups == 1:
		how.Kind = results.PairedCases
	case groups < cases:
		how = results.Because(results.PairedGroups, results.Count("groups", groups, ""))
	}
	if baselines > 0 {
		how.Values = append(how.Values, results.Text("sessions", "cross-session"))
	}
	if imported {
		return []results.Reason{how, results.Because(results.BaselineImported)}
	}
	return []results.Reason{how}
}
