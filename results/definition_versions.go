package results

import (
	"maps"
	"slices"
	"strings"
)

// Quantiles is the definition of a document's quantiles. Documents of older versions do not state it:
// their quantiles of transfers use RoundedRankRule.
type Quantiles struct {
	Definition string `json:"definition" doc:"nearest_rank: the least rank that has at least the share of the values at or below it. rounded_rank: the rank rounded to a whole number, which is up to one lower." schema:"enum=nearest_rank|rounded_rank"`
	// Older are metrics that use RoundedRankRule, because raw samples lack them.
	Older []string `json:"older,omitempty" doc:"Metrics that are of the rounded rank all the same: raw samples do not have them."`
	// Recomputed are numbers that raw samples changed by NearestRank.
	Recomputed []Recomputed `json:"recomputed,omitempty" doc:"Numbers over the launches of a case for which raw samples give another value by nearest rank. With definition nearest_rank the document has these values, else those of before."`
}

// Definitions of quantiles: the nearest rank, and the rank rounded to a whole number, which is up to one
// lower.
const (
	NearestRankRule = "nearest_rank"
	RoundedRankRule = "rounded_rank"
)

// Recomputed is a metric over the launches of a case, as stored and as recomputed from raw samples.
type Recomputed struct {
	Case   string  `json:"case"`
	Metric string  `json:"metric"`
	Unit   string  `json:"unit"`
	Was    float64 `json:"was" doc:"As the document had it."`
	Is     float64 `json:"is" doc:"By nearest rank, from raw samples."`
}

// roundedOnce are the metrics, by workload, that formerly used RoundedRankRule. Medians and extremes are
// unaffected.
var roundedOnce = map[string][]string{}

// RegisterRounded registers metrics of a workload that formerly used RoundedRankRule.
func RegisterRounded(workload string, metrics []string) { roundedOnce[workload] = metrics }

// Definitions of the rates of a load's steady part.
const (
	// FullSlotsRule has a steady part from when all slots are taken, in which the ends of the last wave are missing. It
	// is that of launches with RateWindow "steady".
	FullSlotsRule = "steady"
	// BetweenEndsRule has a steady part from the end of a request to that of another.
	BetweenEndsRule = "steady_ends"
)

// ratesOnce are the metrics, by workload, that formerly used FullSlotsRule.
var ratesOnce = map[string][]string{}

// RegisterRates registers metrics of a workload that formerly used FullSlotsRule.
func RegisterRates(workload string, metrics []string) { ratesOnce[workload] = metrics }

// rateRule returns the rule of the rates of a workload's steady parts; "" if the document has none.
func (d *Document) rateRule(workload string) string {
	for _, c := range d.Cases {
		if c.Workload != workload {
			continue
		}
		for _, l := range c.Launches {
			if l.RateWindow == FullSlotsRule || l.RateWindow == BetweenEndsRule {
				return l.RateWindow
			}
		}
	}
	return ""
}

// DefinitionOf is the definition of a metric in this document; "" if it is the same in all versions.
func (d *Document) DefinitionOf(workload, metric string) string {
	switch q := d.Quantiles; {
	case slices.Contains(ratesOnce[workload], metric):
		return d.rateRule(workload)
	case !slices.Contains(roundedOnce[workload], metric):
		return ""
	case q == nil || slices.Contains(q.Older, metric):
		return RoundedRankRule
	default:
		return q.Definition
	}
}

// RoundedQuantiles lists the metrics of the document that use RoundedRankRule.
func (d *Document) RoundedQuantiles() []string {
	var out []string
	for _, workload := range slices.Sorted(maps.Keys(roundedOnce)) {
		for _, m := range roundedOnce[workload] {
			if d.DefinitionOf(workload, m) == RoundedRankRule && d.measures(workload, m) && !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// measures reports whether a launch of a workload has a metric.
func (d *Document) measures(workload, metric string) bool {
	return slices.ContainsFunc(d.Cases, func(c *Case) bool {
		return c.Workload == workload &&
			c.count(func(l *Launch) bool { _, has := l.Metrics.Get(metric); return has }) > 0
	})
}

// DefinitionDifferences lists metrics that the documents measured with different definitions.
func DefinitionDifferences(base, now *Document) []Difference {
	var all []Difference
	for _, once := range []map[string][]string{roundedOnce, ratesOnce} {
		if d := definitionDifference(once, base, now); d != nil {
			all = append(all, *d)
		}
	}
	return all
}

func definitionDifference(once map[string][]string, base, now *Document) *Difference {
	var names []string
	var was, is string
	for _, workload := range slices.Sorted(maps.Keys(once)) {
		for _, m := range once[workload] {
			b, n := base.DefinitionOf(workload, m), now.DefinitionOf(workload, m)
			if b != n && b != "" && n != "" && !slices.Contains(names, m) &&
				(base.measures(workload, m) || now.measures(workload, m)) {
				names, was, is = append(names, m), b, n
			}
		}
	}
	if names == nil {
		return nil
	}
	return &Difference{
		What: "definition of " + strings.Join(names, ", "), Base: DefinitionText(was), New: DefinitionText(is),
	}
}

// DefinitionText is a definition in words.
func DefinitionText(definition string) string {
	switch definition {
	case NearestRankRule:
		return "nearest rank"
	case RoundedRankRule:
		return "rounded rank, up to one too low"
	case FullSlotsRule:
		return "the steady part from when all slots are taken"
	case BetweenEndsRule:
		return "the steady part from the end of a request to that of another"
	}
	return definition
}
