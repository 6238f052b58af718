package workload

// ChartSpec describes a chart of a workload's cases, besides those of single metrics, as plain data: reports do not
// depend on workloads.
type ChartSpec struct {
	Title string
	Doc   string // how to read it
	Shows ChartKind
	// X and Y are the metrics of Pairs.
	X, Y string
	// At is a column of results.Records: the x axis of a Course, or the begin of the first of Phases or of a Rate;
	// "": zero.
	At string
	// Until is the column of the end of a Rate.
	Until string
	// Only selects operations by the values of columns; nil: all. Distribution, Course and Rate only.
	Only map[string]int64
	// Columns are the columns of results.Records in the chart.
	Columns []RecordColumn
}

// RecordColumn is a column of results.Records that a chart shows.
type RecordColumn struct {
	Name  string // in the records
	Title string // "": Name
	// Since is a column to subtract, as the start of an operation from its end; "": none. Distribution and Course only;
	// they leave out operations where one of the two is below 0 (absent).
	Since string
}

// ChartKind is what a chart shows.
type ChartKind int

// The kinds of charts. Values of records are in nanoseconds.
const (
	// Pairs plots metric Y over metric X, a point per case, as latency over throughput of several loads.
	Pairs ChartKind = iota
	// Distribution plots the cumulative distribution and the histogram of columns over all ranks and launches of a
	// case.
	Distribution
	// Course plots columns over column At, for a typical launch.
	Course
	// Rate plots how much of columns there is per second, for a typical launch. What an operation has is spread
	// evenly from At to Until.
	Rate
	// Phases stacks the times in columns, a row per rank, for a typical operation of a launch.
	Phases
	// ByRank is a heat map of the means of columns, a row per rank.
	ByRank
)
