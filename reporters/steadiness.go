package reporters

import (
	"fmt"
	"strings"

	"weir/results"
)

const (
	warmUpTitle    = "Warm-up too short"
	variancesTitle = "What varies"
)

// unsteady are the cases whose launches were not steady from their start on.
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

// levelsOf are the levels of a component of variance, in words.
var levelsOf = map[string]string{
	"pieces": "parts of a launch", "launches": "launches", "hosts": "hosts", "sessions": "sessions",
}

// variances are what metrics vary by at each level, where more than launches is known.
func variances(doc *results.Document) (out []string) {
	for _, c := range doc.Cases {
		for _, v := range variancesOf(c) {
			out = append(out, v.line())
		}
	}
	return out
}

// varying is what a metric of one case varies by.
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
