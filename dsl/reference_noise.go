// The noise of reference values.

package dsl

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/results/assertion"
)

// noiseColumn is the column of references with the noise of the row's metrics.
const noiseColumn = "noise"

// noiseKeys are the parts of a noise.
var noiseKeys = []string{"launch", "session", "launch_df", "session_df"}

// noise reads how the metrics of a row vary: {launch: 2%, session: 1%} for all of them, or one such
// mapping for each metric. Degrees of freedom say how well the noise is known; without them it is
// taken as exact.
func (rr *referenceReader) noise(expr hcl.Expression, r *Run) map[string]assertion.Noise {
	out := map[string]assertion.Noise{}
	flat := map[string]hcl.Expression{}
	for _, e := range rr.mapping(expr, noiseColumn) {
		_, isMetric := r.metric(e.name)
		switch {
		case slices.Contains(noiseKeys, e.name):
			flat[e.name] = e.expr
		case isMetric:
			parts := map[string]hcl.Expression{}
			for _, part := range rr.mapping(e.expr, e.name) {
				if !slices.Contains(noiseKeys, part.name) {
					rr.unknownNoise(part, noiseKeys)
					continue
				}
				parts[part.name] = part.expr
			}
			if n, ok := rr.noiseParts(parts, e.expr.Range()); ok {
				out[e.name] = n
			}
		default:
			rr.unknownNoise(e, slices.Concat(noiseKeys, metricNames(r)))
		}
	}
	if len(flat) > 0 {
		if n, ok := rr.noiseParts(flat, expr.Range()); ok {
			out[""] = n
		}
	}
	return out
}

func (rr *referenceReader) unknownNoise(e entry, known []string) {
	rr.error(e.at, "Unknown key", fmt.Sprintf("There is no key %q in noise.", e.name),
		suggest.Sentence(e.name, known, "keys"))
}

func (rr *referenceReader) noiseParts(parts map[string]hcl.Expression, at hcl.Range) (n assertion.Noise, ok bool) {
	if parts["launch"] == nil {
		rr.error(at, "Incomplete noise", "noise has no launch: how launches vary.",
			"Write noise: {launch: 2%, session: 1%}.")
		return n, false
	}
	into := map[string]*float64{
		"launch": &n.Launch, "session": &n.Session, "launch_df": &n.LaunchDF, "session_df": &n.SessionDF,
	}
	n.KnowsSessions = parts["session"] != nil
	ok = true
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		text, read := rr.text(parts[name], name)
		if !read {
			ok = false
			continue
		}
		if name == "launch" || name == "session" {
			p, err := quantity.ReadPercent(text)
			if err != nil || p < 0 || p >= 1 {
				rr.error(parts[name].Range(), "Invalid value",
					fmt.Sprintf("%s is a percentage below 100%%, not %q.", name, text), "Write it as 2%.")
				ok = false
			}
			*into[name] = float64(p)
			continue
		}
		v, isNumber := parseNumber(text)
		if !isNumber || !(v > 0) {
			rr.error(parts[name].Range(), "Invalid value",
				fmt.Sprintf("%s is a number of degrees of freedom above zero, not %q.", name, text), "")
			ok = false
		}
		*into[name] = v
	}
	return n, ok
}
