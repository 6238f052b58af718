package gate

import (
	"maps"
	"math"
	"slices"

	"weir/results"
	"weir/workload"
)

// LastDigits is how far a metric may be from the same one computed on another machine.
const LastDigits = 1e-9

// Requantiled is the document of an older version with the quantiles that raw samples of
// its launches have by nearest rank. It says which numbers changed, and which metrics
// samples do not have. The original stays as it is; verdicts are still those of it.
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

// requantiledCase is the case with these metrics of its launches, or the case itself
// where there are none. It notes which metrics they are.
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
	out.Metrics = results.Named[results.MetricEstimate]{} // estimates writes into what is there
	return &out
}

// redefinedBaseline is the baseline of a document, which an older version took from
// another one, with what the recomputed document now defines differently.
func redefinedBaseline(doc, now *results.Document) *results.Baseline {
	d := results.DefinitionDifference(doc, now)
	if doc.Baseline == nil || d == nil {
		return doc.Baseline
	}
	b := *doc.Baseline
	b.Differences = append(slices.Clone(b.Differences), *d)
	return &b
}

// sinceWithout leaves out the changes since an earlier session of numbers that are others now.
func sinceWithout(p *results.Previous, recomputed []results.Recomputed) *results.Previous {
	if p == nil || len(recomputed) == 0 {
		return p
	}
	out := *p
	out.Since = slices.DeleteFunc(slices.Clone(p.Since), func(s *results.Since) bool {
		return slices.ContainsFunc(recomputed,
			func(r results.Recomputed) bool { return r.Case == s.Case && r.Metric == s.Metric })
	})
	return &out
}
