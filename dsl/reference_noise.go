package dsl

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"weir/assertion"
	"weir/quantity"
	"weir/suggest"
)

// noiseColumn is the column of a table of references that says how the metrics of its row vary.
const noiseColumn = "noise"

// noiseKeys are the parts of a noise.
var noiseKeys = []string{"launch", "session", "launch_df", "session_df"}

// noise reads how the metrics of a row vary: {launch: 2%, session: 1%} of all of them, or one
// such mapping for each metric. Degrees of freedom say from how much it was estimated;
// without them it is taken as exact.
func (l *loader) noise(expr hcl.Expression, r *Run) map[string]assertion.Noise {
	out := map[string]assertion.Noise{}
	flat := map[string]hcl.Expression{}
	for _, e := range l.mapping(expr, noiseColumn) {
		_, isMetric := r.metric(e.name)
		switch {
		case slices.Contains(noiseKeys, e.name):
			flat[e.name] = e.expr
		case isMetric:
			parts := map[string]hcl.Expression{}
			for _, part := range l.mapping(e.expr, e.name) {
				if !slices.Contains(noiseKeys, part.name) {
					l.unknownNoise(part, noiseKeys)
					continue
				}
				parts[part.name] = part.expr
			}
			if n, ok := l.noiseParts(parts, e.expr.Range()); ok {
				out[e.name] = n
			}
		default:
			l.unknownNoise(e, slices.Concat(noiseKeys, metricNames(r)))
		}
	}
	if len(flat) > 0 {
		if n, ok := l.noiseParts(flat, expr.Range()); ok {
			out[""] = n
		}
	}
	return out
}

func (l *loader) unknownNoise(e entry, known []string) {
	l.error(e.at, "Unknown key", fmt.Sprintf("%q is no part of a noise.", e.name),
		suggest.Sentence(e.name, known, "parts"))
}

func (l *loader) noiseParts(parts map[string]hcl.Expression, at hcl.Range) (n assertion.Noise, ok bool) {
	if parts["launch"] == nil {
		l.error(at, "Incomplete noise", "A noise says how launches vary.", "Write noise: {launch: 2%, session: 1%}.")
		return n, false
	}
	into := map[string]*float64{
		"launch": &n.Launch, "session": &n.Session, "launch_df": &n.LaunchDF, "session_df": &n.SessionDF,
	}
	n.KnowsSessions = parts["session"] != nil
	ok = true
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		text, read := l.text(parts[name], name)
		if !read {
			ok = false
			continue
		}
		if name == "launch" || name == "session" {
			p, err := quantity.ReadPercent(text)
			if err != nil || p < 0 || p >= 1 {
				l.error(parts[name].Range(), "Invalid value",
					fmt.Sprintf("%s is a share below 100%%, and %q is none.", name, text), "Write it as 2%.")
				ok = false
			}
			*into[name] = float64(p)
			continue
		}
		v, isNumber := parseNumber(text)
		if !isNumber || !(v > 0) {
			l.error(parts[name].Range(), "Invalid value",
				fmt.Sprintf("%s is a number of degrees of freedom above zero, and %q is none.", name, text), "")
			ok = false
		}
		*into[name] = v
	}
	return n, ok
}
