package reporters

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/results"
)

const (
	warmUpTitle    = "Warm-up too short"
	variancesTitle = "What varies"
)

// unsteady lists cases with launches that were not steady from their start.
func unsteady(doc *results.Document) (out []string) {
	for _, c := range doc.Cases {
		w := c.WarmUp
		if w == nil {
			continue
		}
		how := "slower"
		by := 1 - w.Ratio
		if w.Ratio > 1 {
			how, by = "faster", w.Ratio-1
		}
		out = append(out, fmt.Sprintf(
			"warm-up too short: %s: the first %d of %d parts of a launch are %s %s than the rest, which moves its bandwidth by %s",
			plain(c.Key), w.Pieces, w.Of, cvText(by), how, cvText(w.Moves),
		))
	}
	return out
}

// levelsOf names the levels of variance components.
var levelsOf = map[string]string{
	"pieces": "parts of a launch", "launches": "launches", "hosts": "hosts", "sessions": "sessions",
}

// variances lists the variance components of metrics, if more than launches is known.
func variances(doc *results.Document) (out []string) {
	for _, c := range doc.Cases {
		for _, v := range variancesOf(c) {
			out = append(out, v.line())
		}
	}
	return out
}

// varying is the variance of a metric of one case.
type varying struct {
	key    string
	metric string
	levels []results.Variance
}

func variancesOf(c *results.Case) (out []varying) {
	for name, m := range c.Metrics.All() {
		if len(m.Components) > 1 {
			out = append(out, varying{c.Key, name, m.Components})
		}
	}
	return out
}

func (v varying) line() string {
	var parts []string
	for _, l := range v.levels {
		parts = append(parts, cvText(l.CV)+" between "+levelsOf[l.Of])
	}
	return plain(v.metric) + " of " + plain(v.key) + " varies by " + strings.Join(parts, ", ")
}
