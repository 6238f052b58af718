package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// Direction is the better direction of a metric.
type Direction string

// The directions of a metric.
const (
	Higher  Direction = "higher"
	Lower   Direction = "lower"
	Neither Direction = "none"
)

// RankRule is how a metric follows from the bandwidths of ranks (see RankShare).
type RankRule string

// The rules: per rank, the sum over ranks, and the total over the time of the slowest rank.
const (
	EachRank    RankRule = "each"
	SumOfRanks  RankRule = "sum"
	SlowestRank RankRule = "slowest"
)

// Metric defines one number that a launch yields.
type Metric struct {
	Name string `json:"name"`
	// a symbol of package quantity; "" for a ratio
	Unit   string    `json:"unit" doc:"\"\" is a ratio or a count."`
	Better Direction `json:"better" schema:"enum=higher|lower|none"`
	// MayBeZero says that 0 is a valid measurement. Such metrics are judged as differences, all others as
	// ratios.
	MayBeZero bool `json:"may_be_zero,omitzero" doc:"Whether 0 is a measurement as any other: such metrics are judged as differences, all others as ratios."`
	// Fixed metrics, such as bytes moved, do not depend on disturbances.
	Fixed bool   `json:"fixed,omitzero" doc:"Whether it follows from what was done, and not from how long that took."`
	Doc   string `json:"doc,omitempty" doc:"What was counted, between which instants."`
	// Headline metrics are drawn first in reports, even without assertions.
	Headline bool `json:"headline,omitzero" doc:"Whether reports draw it first, also where no assertion is about it."`
	// Ceiling is the metric that bounds it, shown in its charts.
	Ceiling string `json:"ceiling,omitempty" doc:"The metric that bounds it."`
	// Reference metrics are compared with, so an assertion that mentions one is about the others.
	Reference bool `json:"reference,omitzero" doc:"Whether other metrics are held against it."`
	// Quantile is the metric's place, such as p99.9, in the distribution of its Family.
	Quantile string `json:"quantile,omitempty" doc:"Its place, as p99, in the distribution that it has in common with the metrics of the same name up to the last dot."`
	// CountedBy is "" if the number of values is not recorded.
	CountedBy string `json:"counted_by,omitempty" doc:"The metric of a launch, or the option of its case, that says of how many values it is the quantile."`
	// FromRanks is "" if the metric is not a bandwidth of ranks.
	FromRanks RankRule `json:"from_ranks,omitempty" doc:"How it follows from the bandwidths of ranks: it is of single ranks, their sum, or what all move in the time of the slowest." schema:"enum=each|sum|slowest"`
}

// Dim is the dimension of the metric's unit.
func (m Metric) Dim() quantity.Dimension {
	u, ok := quantity.UnitOf(m.Unit)
	if !ok {
		panic("metric " + m.Name + " has unknown unit " + m.Unit)
	}
	return u.Dim
}

// levels are the quantiles by the last part of a metric's name, without extremes.
var levels = map[string]Quantile{
	"p50": P50, "p90": P90, "p95": P95, "p99": P99, "p999": P999, "p99.9": P999,
}

// Level is the metric's quantile; false for others, and for extremes.
func (m Metric) Level() (Quantile, bool) {
	q, ok := levels[cmp.Or(m.Quantile, m.Last())]
	return q, ok
}

// Tail reports whether the metric is a quantile with few values beyond it.
func (m Metric) Tail() bool {
	q, ok := m.Level()
	return ok && q >= P90
}

// Family is the name up to its last dot, Last the rest: latency and p99 of latency.p99.
func (m Metric) Family() string {
	i := max(strings.LastIndexByte(m.Name, '.'), 0)
	return m.Name[:i]
}

// Last is the last part of the name.
func (m Metric) Last() string { return m.Name[strings.LastIndexByte(m.Name, '.')+1:] }

// MetricColumn is a column of tables of cases.
type MetricColumn struct {
	Metric string `json:"metric"`
	// in two lines, where that keeps it narrow
	Head string `json:"head"`
	// the highest is dropped first if space is short; 0: never
	Drop int `json:"drop,omitzero" doc:"The column with the highest number is left out first where there is no room."`
	// Interval adds a column with the confidence interval.
	Interval bool `json:"interval,omitzero" doc:"Whether a column with the confidence interval follows."`
	// Percent shows the value in percent, after the metrics of assertions.
	Percent bool `json:"percent,omitzero" doc:"Whether the value is shown in percent, behind the metrics of assertions."`
}

// MetricTable defines the metrics of a workload, or of a run that declares its own.
type MetricTable struct {
	Workload string `json:"workload"`
	// the declaring run; "": all runs of the workload without declarations
	Run         string         `json:"run,omitempty" doc:"The run that declares these metrics; absent from the table of all other runs of the workload."`
	Definitions []Metric       `json:"definitions" doc:"In the order in which reports name them."`
	Columns     []MetricColumn `json:"columns,omitempty" doc:"What tables of cases show. Absent: all metrics."`
}

// Names returns the names of the metrics.
func (t *MetricTable) Names() (names []string) {
	for _, m := range t.Definitions {
		names = append(names, m.Name)
	}
	return names
}

// Shown returns the columns of the table; by default all metrics, with an interval for the first that has
// a better direction.
func (t *MetricTable) Shown() []MetricColumn {
	if t.Columns != nil {
		return slices.Clone(t.Columns)
	}
	first := slices.IndexFunc(t.Definitions, func(m Metric) bool { return m.Better != Neither })
	var out []MetricColumn
	for i, m := range t.Definitions {
		c := MetricColumn{Metric: m.Name, Head: m.Name + "\n", Drop: i + 1}
		if family := m.Family(); family != "" {
			c.Head = family + "\n" + m.Last()
		}
		if i == first {
			c.Drop, c.Interval = 0, true
		}
		out = append(out, c)
	}
	return out
}

// checkMetrics rejects definitions that cannot be judged.
func (d *Document) checkMetrics() error {
	seen := map[[2]string]bool{}
	for _, t := range d.Metrics {
		if seen[[2]string{t.Workload, t.Run}] {
			return fmt.Errorf("the metrics of workload %q, run %q stand twice in it", t.Workload, t.Run)
		}
		seen[[2]string{t.Workload, t.Run}] = true
		names := map[string]bool{}
		for _, m := range t.Definitions {
			if err := m.check(); err != nil {
				return fmt.Errorf("metric %q of workload %q: %w", m.Name, t.Workload, err)
			}
			if names[m.Name] {
				return fmt.Errorf("metric %q of workload %q stands twice in it", m.Name, t.Workload)
			}
			names[m.Name] = true
		}
	}
	return nil
}

func (m Metric) check() error {
	if _, ok := quantity.UnitOf(m.Unit); !ok {
		return fmt.Errorf("its unit is %q, which weir does not know", m.Unit)
	}
	if !slices.Contains([]Direction{Higher, Lower, Neither}, m.Better) {
		return fmt.Errorf("it is better %q, not higher, lower or none", m.Better)
	}
	if !slices.Contains([]RankRule{"", EachRank, SumOfRanks, SlowestRank}, m.FromRanks) {
		return fmt.Errorf("it follows from ranks by %q, not each, sum or slowest", m.FromRanks)
	}
	return nil
}
