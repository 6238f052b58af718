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
		for name, m := range c.Metrics.All() {
			var parts []string
			for _, v := range m.Components {
				parts = append(parts, cvText(v.CV)+" between "+levelsOf[v.Of])
			}
			if len(parts) > 1 {
				out = append(out, plain(name)+" of "+plain(c.Key)+" varies by "+strings.Join(parts, ", "))
			}
		}
	}
	return out
}
