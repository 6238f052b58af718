package workload

import (
	"time"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// Behaviour is the code of a workload, besides the tables of its Kind. Optional features are the interfaces below,
// which a Behaviour may implement; callers use type assertions.
type Behaviour interface {
	// Spec decodes and checks the options of a case. Options that are absent have their
	// defaults.
	Spec(option.Values) (Spec, error)
	// Reduce computes the metrics of a case in one launch, in the units of the Kind, and sets the fields of the launch
	// that follow from the ranks' measurements.
	Reduce(m *Measured, launch *results.Launch) (map[string]float64, error)
}

// As returns the Behaviour of a workload as one of the interfaces below; not ok if it does not implement it, or there
// is no such workload.
func As[B any](name string) (b B, ok bool) {
	if k, known := Lookup(name); known {
		b, ok = k.Behaviour.(B)
	}
	return b, ok
}

// Simulator is a Behaviour with cases that run in virtual time.
type Simulator interface {
	// Simulated reports whether a case with these options does.
	Simulated(option option.Getter) bool
}

// Summarizer is a Behaviour that summarizes the amount of work of a case.
type Summarizer interface {
	// Amount returns a summary of the options of a case.
	Amount(option.Values) string
	// AmountOf returns the options that Amount depends on; a case without the first one has no summary.
	AmountOf() []string
}

// MatrixMover is a Behaviour with cases that move a matrix which is no option.
type MatrixMover interface {
	// Moves returns the matrix that an iteration of a case with these options moves.
	Moves(options map[string]any) (*matrix.Matrix, error)
}

// Timed is a Behaviour with cases that last as long as their options say, or longer.
type Timed interface {
	// LeastTime returns the time of the measured part of a case in a launch; 0: its options do not decide it.
	LeastTime(option.Values) time.Duration
}

// Scheduler is a Behaviour with cases that run together in a launch.
type Scheduler interface {
	// Together describes the work of all cases of one launch.
	Together(cases []option.Values) string
	// Timetable returns the planned start of each case of a launch, from the start of an iteration of all of them.
	Timetable(cases []option.Values) ([]quantity.Time, error)
}

// Arranger is a Behaviour with cases that depend on each other.
type Arranger interface {
	// Arrange links the cases of a launch before the launch. timeout is that of a case; before is the time limit of the
	// runner's work for all of them ahead of the first.
	Arrange(cases []Spec, timeout time.Duration) (before time.Duration)
}

// Client is a Behaviour with ranks that use services, and go on if some of their requests fail.
type Client interface {
	// RequestsFailed returns whether requests of a rank failed, by its facts.
	RequestsFailed(p *Part) bool
}

// LaunchMeasurer is a Behaviour with metrics that are measured once per launch, whatever cases it has.
type LaunchMeasurer interface{ OfLaunch() []string }

// Recomputer is a Behaviour with metrics that can be computed from samples files alone.
type Recomputer interface {
	// Recompute computes these metrics of a case with the options of a document.
	Recompute(options map[string]any, samples [][]byte) (map[string]float64, error)
}

// Redefiner is a Recomputer with metrics that earlier versions computed differently.
type Redefiner interface {
	// Redefined returns the metrics that the version of a launch computed differently: recomputed values differ from
	// its document.
	Redefined(launch *results.Launch) []string
	// OnceFullSlots returns the rates that older documents have by results.FullSlotsRule.
	OnceFullSlots() []string
}

// Rounder is a Recomputer with quantiles that are rounded in older documents.
type Rounder interface {
	// Rounded computes the quantiles of OnceRounded as documents without a definition of quantiles have them (see
	// results.RoundedRankRule).
	Rounded(samples [][]byte) (map[string]float64, error)
	OnceRounded() []string
}

// PathUser is a Behaviour with launches that probe the ceiling of the path between their ranks.
type PathUser interface {
	// OfCeiling returns the share of the ceiling that a launch reached; far above 1 is impossible. Not ok: unknown.
	OfCeiling(m results.MetricValues) (share float64, ok bool)
	// Carries returns the ceiling of a metric; not ok if the path does not bound the metric.
	Carries(metric string, m results.MetricValues) (most float64, ok bool)
	// Probe returns the best probed rate of the path, in the unit of the metric that it bounds.
	Probe(m results.MetricValues) (rate float64, ok bool)
	// Probed reports whether a metric is a probed rate or computed from one.
	Probed(metric string) bool
}

// OneWay is a Behaviour with cases that move data from some ranks to others only.
type OneWay interface {
	// Ends returns the ranks that send and those that receive in a case with these options; none: each does both.
	Ends(option func(name string) any, ranks int) (from, to []int)
}

// PathTimer is a PathUser with times of single transfers.
type PathTimer interface {
	// TooShort reports whether a metric is a time too short to transfer the bytes of the options at the best probed
	// rate.
	TooShort(metric string, options option.Values, value func(metric string) (float64, bool)) bool
}

// HostSpanner is a Behaviour with times between hosts.
type HostSpanner interface {
	// AcrossHosts returns a launch's time between timestamps of different hosts.
	AcrossHosts(m results.MetricValues) Span
}

// Starter is a Behaviour with ranks that start together.
type Starter interface {
	// Starts returns the start skew of the ranks in the typical iteration of a launch, and the iteration's time, both
	// in s. Not ok: they need not start together.
	Starts(m results.MetricValues) (skew, took float64, ok bool)
}

// Expecter is a Behaviour with options that decide the number of values of quantiles.
type Expecter interface {
	// Expected returns the fewest and the most values of counted (results.Metric.CountedBy) in a launch of a case with
	// these options; 0: unknown.
	Expected(options map[string]any, counted string) (least, most int64)
}

// Lengthener is a Behaviour with a further option, beside the counted one, that ends a launch.
type Lengthener interface {
	// Longer returns the settings with which a launch has at least want values, where it had n, as "duration: 6s"; "":
	// the counted option alone decides.
	Longer(options map[string]any, n, want int64) string
}

// QuantileCounter is a Behaviour with quantiles that need enough values in each launch. For others Quantile.Enough
// values of all launches together suffice.
type QuantileCounter interface {
	// Quantiles returns the number of values in each launch that a quantile needs for a verdict.
	Quantiles(results.Quantile) int64
}

// AlwaysInconclusive is a Behaviour with measurements that are always inconclusive.
type AlwaysInconclusive interface {
	// Undecidable says why a metric of a case with these options is inconclusive, however many launches it has; "": it
	// is not. Without m it decides by the options alone, before the first launch.
	Undecidable(options map[string]any, m MetricValues, metric string) string
}

// MetricExcluder is a Behaviour with options that exclude metrics.
type MetricExcluder interface {
	// Unmeasured says why launches of a case with these options lack a metric; "": they have it, or that is unknown.
	Unmeasured(options option.Values, metric string) string
	// UnmeasuredBy returns the options, all of Checked, that Unmeasured depends on for a metric; none: all cases have
	// the metric.
	UnmeasuredBy(metric string) []string
}

// MetricWarner is a Behaviour with metrics that can be misinterpreted.
type MetricWarner interface {
	// Doubtful says why an assertion about a metric of a case with these options may not mean what it seems to; "": it
	// does.
	Doubtful(options option.Values, metric string) string
}

// OptionJudge is a Behaviour with options that have no effect, or an unexpected one, in some cases.
type OptionJudge interface {
	// Idle returns the options without effect in a case with these options, each with the reason.
	Idle(options option.Values) map[string]string
	// Caution returns the options that may change the meaning of a case's metrics unexpectedly, each with the reason.
	Caution(options option.Values) map[string]string
}

// PartialSummarizer is a Behaviour with ranks that leave samples when they are stopped.
type PartialSummarizer interface {
	// Unfinished summarizes the completed part of such a case.
	Unfinished(spec Spec, samples [][]byte) (string, error)
}

// ValidityChecker is a Behaviour with launches that may measure something unintended.
type ValidityChecker interface {
	// Invalid says why a launch did not measure what was intended, as with a client slower than its server; such a case
	// is an error. "": it did.
	Invalid(options map[string]any, m MetricValues) string
}

// DisturbanceDetector is a Behaviour with metrics that show a busy host.
type DisturbanceDetector interface {
	// Disturbed returns what delayed a launch's measurement; nil: nothing.
	Disturbed(m MetricValues) *results.Disturbance
}

// TablePrinter is a Behaviour with cases that can be printed as tables of other tools, by the tool's name.
type TablePrinter interface {
	Tables() map[string]ForeignTable
}

// BlockPrinter is a Behaviour with cases that can be printed as other tools print one, by the tool's name.
type BlockPrinter interface {
	Blocks() map[string]ForeignBlock
}

// RankChecker is a Behaviour with a metric that counts the ranks that have run and verified a case.
type RankChecker interface{ Passed() string }

// RowSplitter is a Behaviour with launches that yield several cases, each a row of output.
type RowSplitter interface {
	// RowAxis returns the axis with a value for each case of a launch of a run with these options; "": there is none.
	RowAxis(option.Values) string
	// Row returns the option that holds the value of RowAxis as a text.
	Row() string
	// RowValues returns the values of the axis if the sweep lacks it; none: unknown.
	RowValues(option.Values) []string
}

// RankCounter is a Behaviour with other options than ranks for the number of ranks of a case.
type RankCounter interface {
	// CountedBy returns these options, and CountRanks the number of ranks for their values.
	CountedBy() []string
	CountRanks(value func(option string) any) int
}

// Itemizer is a Behaviour with a sequence of items without options. In other sequences each item is a mapping of
// options.
type Itemizer interface {
	// Items returns the facts of each item that conditions may name, by the value of an option of OneOf or of its Into.
	// All items have the same facts.
	Items(value string) [][]matrix.Field
}

// OptionRefuser is a Behaviour that rejects some options of other workloads.
type OptionRefuser interface {
	// Without returns these options, each with the reason.
	Without() map[string]string
}
