package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/weir-bench/weir/results"
)

// Outliers of a value of several cases.

// withoutOutliers returns the sources without outlier launches, and the names of these. Interleaved
// sources are tested by the summed contributions of the launches of one number, because each alone may
// drift. If too many launches stand out (secondMode), none is removed and modes says so.
func (c *combination) withoutOutliers() (rest []*source, names results.Reason, modes []results.Reason) {
	rest = slices.Clone(c.sources)
	scale := 1.0
	if !c.log {
		scale = math.Abs(c.center)
	}
	for _, cluster := range c.clusters {
		sums := map[int]float64{}
		for _, i := range cluster {
			for j, l := range c.sources[i].launches {
				sums[l.Index] += c.z[i][j]
			}
		}
		indexes := slices.Sorted(maps.Keys(sums))
		values := make([]float64, len(indexes))
		for k, index := range indexes {
			values[k] = sums[index]
		}
		marked, odd := outlierMask(values, scale), map[int]bool{}
		for k, is := range marked {
			odd[indexes[k]] = is
		}
		switch {
		case !slices.Contains(marked, true):
			continue
		case secondMode(marked):
			modes = append(modes, results.Because(results.OwnMode, c.nameOutliers(cluster, odd)...))
			continue
		}
		c.markSides(cluster, indexes, values, marked)
		if side := sideOfMarked(values, marked); names.None() {
			c.outlierSide = side
		} else if side != c.outlierSide {
			c.outlierSide = crossing
		}
		names.Kind = results.Outliers
		names.Values = append(names.Values, c.nameOutliers(cluster, odd)...)
		for _, i := range cluster {
			less := *c.sources[i]
			less.launches = slices.DeleteFunc(slices.Clone(less.launches),
				func(l *results.Launch) bool { return odd[l.Index] })
			rest[i] = &less
		}
	}
	return rest, names, modes
}

// nameOutliers names the outlier launches of a cluster; those of a single case with their values.
func (c *combination) nameOutliers(cluster []int, odd map[int]bool) []results.Value {
	i := cluster[0]
	s, v := c.sources[i], c.first[i]
	if len(cluster) == 1 && v != nil {
		ps, marked := make([]point, len(s.launches)), make([]bool, len(s.launches))
		for j, l := range s.launches {
			ps[j], marked[j] = point{l, v.values[j]}, odd[l.Index]
		}
		return outlierValues(s.name()+" ", ps, marked, v.leaf.Unit)
	}
	what := "launch %d of all its cases"
	if len(cluster) == 2 {
		what = "the pair of launches %d"
	}
	var names []results.Value
	for _, index := range slices.Sorted(maps.Keys(odd)) {
		if odd[index] {
			names = append(names, results.Text("launches", fmt.Sprintf(what, index+1)))
		}
	}
	return firstFew(names, 1)
}

// markSides records the launches of a cluster that move the subject below all others, or above them.
func (c *combination) markSides(cluster, indexes []int, values []float64, marked []bool) {
	least, most := limitsOfOthers(values, marked)
	for k, index := range indexes {
		if !marked[k] {
			continue
		}
		for _, i := range cluster {
			switch {
			case values[k] < least:
				c.under[i] = append(c.under[i], index)
			case values[k] > most:
				c.over[i] = append(c.over[i], index)
			}
		}
	}
}

// clampedCombination is clamped for several cases: the metrics of outliers on the far side of the bound are moved into
// the range of the other launches. nil: there are none, or that does not move the subject towards the bound.
func (check boundCheck) clampedCombination(c *combination, of func(*combination) interval) interval {
	low, high := check.bounds.Lower, check.bounds.Upper
	far := c.under
	if high == nil {
		far = c.over
	}
	if (low == nil) == (high == nil) || len(far) == 0 {
		return nil
	}
	moved := slices.Clone(c.sources)
	for i, indexes := range far {
		moved[i] = c.withinOthers(i, indexes)
	}
	near, err := check.combine(moved)
	if err != nil || high != nil && near.center < c.center || high == nil && near.center > c.center {
		return nil
	}
	return check.endNearBound(of(c), of(near))
}

// withinOthers returns a source with the metrics of some launches moved into the range of the others.
func (c *combination) withinOthers(at int, indexes []int) *source {
	s := *c.sources[at]
	s.launches = slices.Clone(s.launches)
	for j, l := range s.launches {
		if !slices.Contains(indexes, l.Index) {
			continue
		}
		less := *l
		less.Metrics = results.ValuesOf(maps.Collect(l.Metrics.All()))
		for _, v := range c.all {
			if v.source != at {
				continue
			}
			marked := make([]bool, len(s.launches))
			for k, other := range s.launches {
				marked[k] = slices.Contains(indexes, other.Index)
			}
			least, most := limitsOfOthers(v.values, marked)
			less.Metrics.Set(v.leaf.Metric, min(max(v.values[j], least), most))
		}
		s.launches[j] = &less
	}
	return &s
}
