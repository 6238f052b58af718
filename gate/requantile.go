package gate

import (
	"maps"
	"math"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// LastDigits is the relative difference to expect of a metric computed on another machine.
const LastDigits = 1e-9

// Requantiled recomputes the quantiles of an older document by nearest rank from raw samples. The result
// lists the changed numbers and the metrics without samples. Verdicts stay those of the original, which is
// not modified.
func Requantiled(doc *results.Document, bySamples map[*results.Launch]map[string]float64) *results.Document {
	out := *doc
	out.Quantiles = &results.Quantiles{Definition: results.NearestRankRule}
	out.Cases = make([]*results.Case, len(doc.Cases))
	d, computed := workload.DefinitionsOf(doc), map[string]bool{}
	for i, c := range doc.Cases {
		out.Cases[i] = requantiledCase(c, bySamples, computed)
		if out.Cases[i] != c {
			out.Cases[i].Metrics = estimates(d, out.Cases[i])
		}
		for name, is := range out.Cases[i].Metrics.All() {
			was, ok := c.Metrics.Get(name)
			if ok && computed[name] && math.Abs(was.Value-is.Value) > LastDigits*math.Abs(is.Value) {
				out.Quantiles.Recomputed = append(out.Quantiles.Recomputed, results.Recomputed{
					Case: c.Key, Metric: name, Unit: is.Unit, Was: was.Value, Is: is.Value,
				})
			}
		}
	}
	out.Quantiles.Older = slices.DeleteFunc(doc.RoundedQuantiles(), func(m string) bool { return computed[m] })
	out.Baseline, out.Previous = redefinedBaseline(doc, &out), sinceWithout(doc.Previous, out.Quantiles.Recomputed)
	return &out
}

// requantiledCase returns the case with these metrics of its launches, or the case itself if there are
// none; it records their names.
func requantiledCase(c *results.Case, bySamples map[*results.Launch]map[string]float64,
	computed map[string]bool) *results.Case {
	if !slices.ContainsFunc(c.Launches, func(l *results.Launch) bool { return bySamples[l] != nil }) {
		return c
	}
	out := *c
	out.Launches = slices.Clone(c.Launches)
	for i, l := range c.Launches {
		if bySamples[l] == nil {
			continue
		}
		one := *l
		values := maps.Collect(l.Metrics.All())
		for name, v := range bySamples[l] {
			values[name], computed[name] = v, true
		}
		one.Metrics = results.ValuesOf(values)
		out.Launches[i] = &one
	}
	out.Metrics = results.Named[results.MetricEstimate]{} // estimates writes into existing entries
	return &out
}

// redefinedBaseline returns the baseline without the metrics that the recomputed document defines
// differently.
func redefinedBaseline(doc, now *results.Document) *results.Baseline {
	d := results.DefinitionDifferences(doc, now)
	if doc.Baseline == nil || len(d) == 0 {
		return doc.Baseline
	}
	b := *doc.Baseline
	b.Differences = slices.Concat(b.Differences, d)
	return &b
}

// sinceWithout removes changes of recomputed metrics from a comparison with an earlier session.
func sinceWithout(p *results.Previous, recomputed []results.Recomputed) *results.Previous {
	if p == nil || len(recomputed) == 0 {
		return p
	}
	out := *p
	out.NotCompared = slices.Clone(p.NotCompared)
	out.Since = slices.DeleteFunc(slices.Clone(p.Since), func(s *results.Since) bool {
		again := slices.ContainsFunc(recomputed,
			func(r results.Recomputed) bool { return r.Case == s.Case && r.Metric == s.Metric })
		if again {
			out.NotCompared = append(out.NotCompared, results.NotCompared{
				Case: s.Case, Metric: s.Metric, Reason: "its quantile was computed again from samples",
			})
		}
		return again
	})
	return &out
}
