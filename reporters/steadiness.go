package reporters

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

const (
	unsteadyTitle  = "Launches not steady"
	variancesTitle = "What varies"
)

// unsteady lists cases with launches that were not steady from their start.
func unsteady(doc *results.Document) (out []string) {
	for _, c := range doc.Cases {
		w := c.WarmUp
		if w == nil {
			continue
		}
		speed := "latencies"
		if k, ok := workload.Lookup(c.Workload); ok {
			if _, moves := workload.FindMetric(k.Metrics, workload.Bandwidth); moves {
				speed = workload.Bandwidth
			}
		}
		what, how := "warm-up too short", cvText(1-w.Ratio)+" slower than"
		switch {
		case w.Ratio > 2:
			what, how = "launches slow down", quantity.Digits(w.Ratio, 2)+" times as fast as"
		case w.Ratio > 1:
			what, how = "launches slow down", cvText(w.Ratio-1)+" faster than"
		}
		out = append(out, fmt.Sprintf(
			"%s: %s: in %s a launch is %s in the rest, which moves its %s by %s",
			what, plain(c.Key), firstParts(w), how, speed, cvText(w.Moves),
		))
	}
	return out
}

// firstParts names the parts at the beginning of a launch: "the first of 16 parts".
func firstParts(w *results.WarmUp) string {
	if w.Pieces == 1 {
		return fmt.Sprintf("the first of %d parts", w.Of)
	}
	return fmt.Sprintf("the first %d of %d parts", w.Pieces, w.Of)
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
