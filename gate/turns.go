package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"weir/results"
)

// Launches of several cases that carry the same number belong together where the
// cases took turns: all of them began their launch i before any began its next
// one. Cases that one launch walks are of this kind, and runs that alternate
// (A0 B0 B1 A1 …). What a launch, or the minutes around it, does to all of them
// then cancels in a ratio and adds up in a mean, as it should. Start times show
// it; without them nothing is taken to belong together.

// spread finds the variance of the estimate and its degrees of freedom. Within a
// cluster of sources that took turns it is the cluster-robust one over launch
// numbers,
//
//	V = Σ_i (Σ_k (z_ki − mean z_k)/√(n_k(n_k−1)))²,
//
// which for equal n is that of the paired differences, var(Σ_k z_ki)/n, and for a
// single source var(z)/n; it has the degrees of freedom of the source with fewest
// launches. Clusters are independent: their variances add up, with Welch and
// Satterthwaite's degrees of freedom. Sources: Liang and Zeger, Biometrika 73
// (1986); Welch, Biometrika 34 (1947).
func (c *combination) spread(variables []*variable, weights []float64) error {
	if c.n < 2 {
		return nil // one launch shows no spread
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
	for _, cluster := range clusters(c.sources) {
		if s := c.sources[cluster[0]]; len(s.launches) < 2 {
			v, df, err := c.borrowed(cluster, variables, weights)
			if err != nil {
				return err
			}
			add(cluster, v, df)
			most = df
			continue
		}
		v, df := c.clusterVariance(cluster)
		add(cluster, v, df)
	}
	c.variance = sum
	if sum == 0 {
		return nil
	}
	c.df = sum * sum / welch
	if most > 0 { // what is borrowed is no second, independent look at the noise
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

// borrowed is the variance of baselines with a single launch, whose own noise
// nobody knows: each is taken to be as noisy as the same case is in this session,
// which makes the interval that of a single new launch (a prediction interval).
func (c *combination) borrowed(cluster []int, variables []*variable, weights []float64) (v, df float64, err error) {
	for _, i := range cluster {
		s := c.sources[i]
		if len(s.donor) < 2 {
			return 0, 0, fmt.Errorf("%s: it has a single launch, and too few of this session's can tell its noise",
				s.name())
		}
		z := make([]float64, len(s.donor))
		for k, x := range variables {
			if x.source != i {
				continue
			}
			lent, err := newVariable(c.metrics, i, &source{key: s.key, launches: s.donor}, x.leaf, c.log)
			if err != nil {
				return 0, 0, fmt.Errorf("%s: %w", s.key, err)
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

// clusters partitions sources into those that took turns. Baselines have no start
// times; their launches stand in order, and taking them together assumes least.
func clusters(sources []*source) [][]int {
	var out [][]int
	var bounds []map[int]span
	stored := map[int]int{} // cluster of the baselines by their number of launches
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
			if joined, ok := taken(bounds[k], mine); ok {
				out[k], bounds[k] = append(out[k], i), joined
				continue next
			}
		}
		out, bounds = append(out, []int{i}), append(bounds, mine)
	}
	return out
}

// span is from the first to the last start of the launches of one number.
type span struct{ first, last time.Time }

// spans is nil if some launch has no start.
func spans(launches []*results.Launch) map[int]span {
	out := make(map[int]span, len(launches))
	for _, l := range launches {
		if l.Started.IsZero() {
			return nil
		}
		out[l.Index] = span{l.Started, l.Started}
	}
	return out
}

// taken joins the spans of two sides that took turns over the launches that both
// have, of which there must be two.
func taken(a, b map[int]span) (joined map[int]span, ok bool) {
	if a == nil || b == nil {
		return nil, false
	}
	joined = maps.Clone(a)
	common := 0
	for i, s := range b {
		if t, both := a[i]; both {
			common++
			s.first = slices.MinFunc([]time.Time{s.first, t.first}, time.Time.Compare)
			s.last = slices.MaxFunc([]time.Time{s.last, t.last}, time.Time.Compare)
		}
		joined[i] = s
	}
	if common < 2 {
		return nil, false
	}
	var before *span
	for _, i := range slices.Sorted(maps.Keys(joined)) {
		s := joined[i]
		if before != nil && !before.last.Before(s.first) {
			return nil, false
		}
		before = &s
	}
	return joined, true
}

// method says how launches of several cases were combined, and of several runs whether
// these took turns: cases of one run that did so pair nothing between the runs.
func method(sources []*source) string {
	cases, groups, baselines, mixed, timed := 0, 0, 0, false, true
	var all []string // runs
	for _, cluster := range clusters(sources) {
		if sources[cluster[0]].c == nil {
			baselines += len(cluster)
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
	text := "unpaired"
	switch {
	case baselines > 0 && cases < 2:
		return "cross-session, unpaired"
	case len(all) > 1 && !mixed && timed:
		slices.Sort(all)
		last := len(all) - 1
		text = fmt.Sprintf("unpaired: runs %s and %s did not take turns", strings.Join(all[:last], ", "), all[last])
	case groups == 1:
		text = "paired: the cases took turns"
	case groups < cases:
		text = fmt.Sprintf("paired in %d groups of cases that took turns", groups)
	}
	if baselines > 0 {
		text = "cross-session, " + text
	}
	return text
}
