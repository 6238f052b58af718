package reporters

import (
	"fmt"
	"strings"

	"weir/results"
)

const recomputedTitle = "Quantiles that differ between the document and its raw samples"

// quantilesBanner says of a document by an older version which quantiles are of the
// older definition, and which are recomputed; "" if all always were of the nearest rank.
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

// recomputed are the numbers for which raw samples give another value than the document.
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

// measuredText is a number in four digits.
func measuredText(v float64, unit string) string {
	scale := results.ScaleFor(v, unit)
	digits, _, _ := scale.Estimate(v, nil)
	return scale.WithUnit(digits)
}

// atMost are the first lines of many, and how many more there are.
func atMost(most int, lines []string) []string {
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], fmt.Sprintf("and %d more; --report json has all", len(lines)-most))
}
