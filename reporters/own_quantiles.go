package reporters

import (
	"fmt"
	"math"
	"slices"

	"github.com/weir-bench/weir/results"
)

// ownQuantiles is the legend of comparisons with quantiles.
const ownQuantiles = "quantiles: the geometric mean of the launches' own; the tables of a session have that of all values" +
	" together"

// comparesQuantiles reports whether a comparison has an effect on a quantile.
func comparesQuantiles(c *results.Comparison) bool {
	return slices.ContainsFunc(c.Effects, func(e *results.Effect) bool {
		_, is := results.Metric{Name: e.Metric}.Level()
		return is
	})
}

// otherQuantile is the least factor between two estimates of a quantile that is told.
const otherQuantile = 1.1

// quantilesSince says that a change of a quantile since an earlier session is of the launches' own quantiles, for the
// one that differs most from the quantile of all values, which tables have.
func quantilesSince(doc *results.Document) []string {
	if doc.Previous == nil {
		return nil
	}
	text, most := "", otherQuantile
	for _, s := range doc.Previous.Since {
		c := doc.Case(s.Case)
		if _, is := (results.Metric{Name: s.Metric}).Level(); !is || c == nil || s.Additive {
			continue
		}
		all, ok := c.Metrics.Get(s.Metric)
		own := s.Base.Value * s.Change.Value
		factor := math.Max(all.Value/own, own/all.Value)
		if !ok || !(factor > most) || math.IsInf(factor, 1) {
			continue
		}
		scale := results.ScaleFor(all.Value, s.Unit)
		number := func(v float64) string { value, _, _ := scale.Estimate(v, nil); return scale.WithUnit(value) }
		text, most = fmt.Sprintf("%s of %s is %s of all values together; its change since the earlier session is that of"+
			" the launches' own, %s on average", s.Metric, plain(s.Case), number(all.Value), number(own)), factor
	}
	if text == "" {
		return nil
	}
	return []string{text}
}
