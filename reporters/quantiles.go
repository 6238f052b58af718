package reporters

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/results"
)

const recomputedTitle = "Quantiles that differ between the document and its raw samples"

// quantilesBanner says which quantiles of an older document use the older definition, and which are
// recomputed; "" if all use the nearest rank.
func quantilesBanner(doc *results.Document) string {
	low, n := "", 0
	if older := doc.RoundedQuantiles(); len(older) > 0 {
		low = "QUANTILES UP TO ONE RANK LOW, as an older version computed them: " + strings.Join(older, ", ")
	}
	if doc.Quantiles != nil {
		n = len(doc.Quantiles.Recomputed)
	}
	switch {
	case n > 0 && doc.Quantiles.Definition == results.RoundedRankRule:
		return fmt.Sprintf("%s. Values that differ from raw samples: %d; weir gate judges by raw samples", low, n)
	case n > 0:
		return sentence(". ", fmt.Sprintf("QUANTILES RECOMPUTED by nearest rank from raw samples; values that changed: %d",
			n), low)
	}
	return low
}

// recomputed lists numbers that differ when recomputed from raw samples.
func recomputed(doc *results.Document) []string {
	if doc.Quantiles == nil {
		return nil
	}
	var out []string
	for _, r := range doc.Quantiles.Recomputed {
		out = append(out, plain(fmt.Sprintf("%s: %s was %s in the document; by nearest rank from its raw samples it is %s",
			r.Case, r.Metric, measuredText(r.Was, r.Unit), measuredText(r.Is, r.Unit))))
	}
	return out
}

// measuredText formats a number with four digits.
func measuredText(v float64, unit string) string {
	scale := results.ScaleFor(v, unit)
	digits, _, _ := scale.Estimate(v, nil)
	return scale.WithUnit(digits)
}

// atMost limits a list of lines and counts the rest.
func atMost(most int, lines []string) []string {
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], fmt.Sprintf("and %d more; --report json has all", len(lines)-most))
}
