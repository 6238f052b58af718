// Package workload is the registry of workloads: for each kind its options (type, default, unit) and its metrics
// (unit, direction, definition). Validator, planner, engine, reports and `weir docs` read these tables.
package workload

import (
	"slices"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
)

// Metric is the definition of a number that a launch yields.
type Metric = results.Metric

// MetricValues are the metrics of a launch.
type MetricValues = results.MetricValues

// MetricTable defines the metrics of a workload, or of a run that declares its own.
type MetricTable = results.MetricTable

// Column is a column of tables of cases.
type Column = results.MetricColumn

// Direction says which way a metric is better.
type Direction = results.Direction

// The directions of a metric.
const (
	Higher  = results.Higher
	Lower   = results.Lower
	Neither = results.Neither
)

// Bandwidth is the metric of each workload's data rate, which links of a site bound.
const Bandwidth = "bandwidth"

// Moment describes a kind of moment of a launch's timeline for reports.
type Moment struct {
	Text  string
	By    bool // by another rank, which is named
	Fault bool
}

// Kind is one workload.
type Kind struct {
	Name    string
	Doc     string
	Options []option.Option
	Metrics []Metric
	Show    Presentation
	// DeclaresMetrics: runs declare further metrics.
	DeclaresMetrics bool
	// Measures returns the metrics of a run with these options and declared metrics; with an error, those that are
	// known. nil: Metrics and then the declared ones.
	Measures func(options option.Values, declared []Metric) ([]Metric, error)
	// MeasuredBy is the option without which Measures adds nothing; "": it is always called.
	MeasuredBy string
	// Sequence names the option with the index of a case in a sequence: all cases of a sequence run in order in one
	// launch. "": cases are independent.
	Sequence string
	// OneOf are options of which exactly one must be given.
	OneOf []string
	// Check validates combinations of options; nil: Spec does, if there are Checked ones. It depends on the options of
	// Checked only.
	Check   func(option.Values) error
	Checked []string
	// Services describe the use of the scenario's services by launches; nil: none.
	Services *Services
	Behaviour
}

// Presentation is how reports show a workload.
type Presentation struct {
	Columns []Column          // metrics in tables of cases; nil: all
	Brief   []string          // metrics in progress output; nil: the first few
	Charts  []ChartSpec       // charts besides those of single metrics
	Moments map[string]Moment // kinds of moments of a launch's timeline (results.Moment.What)
	Notes   string            // Markdown with a heading "## TOPIC" for each note
}

// Services describe how launches of a workload use the services of the scenario.
type Services struct {
	// Beside returns services that must run during launches, besides those that the Spec of a case demands. nil: none.
	Beside func(option.Values) ([]Service, error)
	// Observe adds the services' metrics to those of a launch, and fails if a proof is missing. nil: Reduce does so.
	Observe func(options option.Values, seen map[string]Observation, metrics map[string]float64) error
	// OverLaunch returns metrics that are counted over a whole launch, as those of services. A case with any is the
	// only one of its launches, if the workload runs cases one after the other.
	OverLaunch func(option.Values) []string
}

// Option finds an option by name.
func (k *Kind) Option(name string) (option.Option, bool) {
	i := slices.IndexFunc(k.Options, func(o option.Option) bool { return o.Name == name })
	if i < 0 {
		return option.Option{}, false
	}
	return k.Options[i], true
}

// InSeconds is the suffix of times that items of a sequence may give as a plain number of seconds, as published files
// do.
const InSeconds = "_sec"

// ItemOptions returns the options that an item of a sequence may have.
func (k *Kind) ItemOptions() []option.Option {
	return slices.DeleteFunc(slices.Clone(k.Options),
		func(o option.Option) bool { return o.Item == option.NoItem || o.Name == k.Sequence })
}

// Applies reports whether an option exists for a case with these values; options that v lacks have their defaults.
func (k *Kind) Applies(o option.Option, v option.Values) bool {
	if text, _ := v["matrix"].(string); o.Where.OwnCells && !option.HasOwnCells(text) {
		return false
	}
	for name, want := range o.Where.Options {
		have, ok := v[name]
		if !ok {
			other, _ := k.Option(name)
			have = other.Default
		}
		if met := have == want; met == o.Where.Any {
			return met
		}
	}
	return !o.Where.Any
}

// Applicable returns v without the options that do not exist for such a case.
func (k *Kind) Applicable(v option.Values) option.Values {
	out := make(option.Values, len(v))
	for name, value := range v {
		if o, ok := k.Option(name); !ok || k.Applies(o, v) {
			out[name] = value
		}
	}
	return out
}

// Metric finds a metric by name, including Availability.
func (k *Kind) Metric(name string) (Metric, bool) {
	return FindMetric(k.Metrics, name)
}

// RanksOptions returns the options that decide the number of ranks of a case.
func (k *Kind) RanksOptions() []string {
	if c, ok := k.Behaviour.(RankCounter); ok {
		return c.CountedBy()
	}
	return []string{"ranks"}
}

// Ranks returns the number of ranks of a case with these values of RanksOptions; 1 by default.
func (k *Kind) Ranks(value func(option string) any) int {
	if c, ok := k.Behaviour.(RankCounter); ok {
		return max(1, c.CountRanks(value))
	}
	if n, ok := value("ranks").(int64); ok {
		return int(n)
	}
	return 1
}

// Names returns the names of all workloads.
func Names() []string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}
