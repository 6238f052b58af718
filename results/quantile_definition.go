package results

import (
	"slices"
	"strings"
)

// Quantiles says by which definition the quantiles of a document were computed. Documents
// of versions before it do not say: in them quantiles of transfers are of RoundedRankRule.
type Quantiles struct {
	Definition string `json:"definition"`
	// Older are metrics that are of RoundedRankRule all the same: raw samples do not have them.
	Older []string `json:"older,omitempty"`
	// Recomputed are the numbers for which raw samples give another value by NearestRank.
	Recomputed []Recomputed `json:"recomputed,omitempty"`
}

// Definitions of quantiles: the nearest rank, and the rank rounded to a whole number,
// which is up to one lower.
const (
	NearestRankRule = "nearest_rank"
	RoundedRankRule = "rounded_rank"
)

// Recomputed is a metric over the launches of a case as a document had it, and as its raw
// samples have it.
type Recomputed struct {
	Case   string  `json:"case"`
	Metric string  `json:"metric"`
	Unit   string  `json:"unit"`
	Was    float64 `json:"was"`
	Is     float64 `json:"is"`
}

// roundedWorkload is the workload whose quantiles were once of RoundedRankRule, and
// roundedMetrics are these. Medians and extremes are the same by both definitions.
const roundedWorkload = "transfer"

var roundedMetrics = []string{
	"latency.p90", "latency.p95", "latency.p99", "latency.p999", "post.p99", "transfer.p99", "prep.request.p99", "prep.lists.p99", "prep.reregister.p99",
}

// DefinitionOf is the definition of a metric of a workload in this document; "" of one
// that has had the same definition in all versions.
func (d *Document) DefinitionOf(workload, metric string) string {
	switch q := d.Quantiles; {
	case workload != roundedWorkload || !slices.Contains(roundedMetrics, metric):
		return ""
	case q == nil || slices.Contains(q.Older, metric):
		return RoundedRankRule
	default:
		return q.Definition
	}
}

// RoundedQuantiles are the metrics of the document's launches that are of RoundedRankRule.
func (d *Document) RoundedQuantiles() []string {
	return slices.DeleteFunc(d.measuredQuantiles(), func(m string) bool { return d.DefinitionOf(roundedWorkload, m) != RoundedRankRule })
}

// measuredQuantiles are those of roundedMetrics that a launch has.
func (d *Document) measuredQuantiles() []string {
	return slices.DeleteFunc(slices.Clone(roundedMetrics), func(metric string) bool {
		return !slices.ContainsFunc(d.Cases, func(c *Case) bool {
			return c.Workload == roundedWorkload && c.count(func(l *Launch) bool {
				_, has := l.Metrics.Get(metric)
				return has
			}) > 0
		})
	})
}

// DefinitionDifference is one difference of the metrics that one of two documents has
// measured and that they define differently; nil if there are none.
func DefinitionDifference(base, now *Document) *Difference {
	both := slices.Concat(base.measuredQuantiles(), now.measuredQuantiles())
	var names []string
	var was, is string
	for _, m := range roundedMetrics {
		if b, n := base.DefinitionOf(roundedWorkload, m), now.DefinitionOf(roundedWorkload, m); b != n && slices.Contains(both, m) {
			names, was, is = append(names, m), b, n
		}
	}
	if names == nil {
		return nil
	}
	return &Difference{What: "definition of " + strings.Join(names, ", "), Base: DefinitionText(was), New: DefinitionText(is)}
}

// DefinitionText is a definition in words.
func DefinitionText(definition string) string {
	switch definition {
	case NearestRankRule:
		return "nearest rank"
	case RoundedRankRule:
		return "rounded rank, up to one too low"
	}
	return definition
}
