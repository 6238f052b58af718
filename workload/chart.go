package workload

// Chart is a chart that a report has of the cases of a workload, besides those of single metrics:
// plain data, so that no report knows a workload.
type Chart struct {
	Title string
	Doc   string // what it shows and how to read it
	Shows ChartKind
	// X and Y are metrics, of Pairs.
	X, Y string
	// At is a column of results.Records: of a Course what it runs over, of Phases where the first
	// phase begins, "": at zero.
	At string
	// Columns are those of results.Records that are drawn.
	Columns []RecordColumn
}

// RecordColumn is a column of results.Records that a chart shows.
type RecordColumn struct {
	Name  string // in the records
	Title string // for a person; "": Name
}

// ChartKind is what a Chart shows.
type ChartKind int

// The kinds of charts. All numbers of records are nanoseconds.
const (
	// Pairs is metric Y over metric X, a point for each case, as latency over throughput of
	// several loads.
	Pairs ChartKind = iota
	// Distribution is the cumulative distribution and the histogram of what columns hold, of all
	// ranks and launches of a case.
	Distribution
	// Course is what columns hold over column At, of a typical launch.
	Course
	// Phases are the times in columns one behind the other, a row for each rank, of a typical
	// operation of a launch.
	Phases
	// ByRank is a heat map of the means of columns, a row for each rank.
	ByRank
)
