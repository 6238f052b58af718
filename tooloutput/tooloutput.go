// Package tooloutput reads the numbers that the field's benchmark tools print.
//
// A format is one tool's output: which metrics it has, in which units, what the tool
// counted, and a reader. A number keeps the value that the tool printed: units are
// converted as exact fractions, and only the result is rounded to a float64. Where a
// metric means what weir's own means it has weir's name; where it only looks alike, it
// has another one. Each reader is strict: an output that is cut short, contradicts
// itself or tells of an error is an error with its line, never fewer rows.
package tooloutput

import (
	"errors"
	"fmt"
	"slices"
)

// Row is one line of a tool's result: the values that identify it and its numbers.
type Row struct {
	At     map[string]string  // by key of the format, as block_size or batch
	Values map[string]float64 // by metric, in the metric's unit; what the tool did not say is absent
	Line   int                // where in the output it begins
}

// Metric is one number that a row of the format may have.
type Metric struct {
	Name      string
	Unit      string // a symbol that package quantity knows; "" for a count or a ratio
	Better    string // Higher, Lower or Neither
	MayBeZero bool   // 0 is a measurement as any other
	Doc       string // what exactly the tool counted
}

// The directions of a metric.
const (
	Higher  = "higher"
	Lower   = "lower"
	Neither = "none"
)

// Format is the output of one tool.
type Format struct {
	Name string
	Doc  string   // the tool, and the option that makes it print this
	Keys []string // what may identify a row
	// Rows are the values of a key that a command line of the tool asks for; nil, or none: it is not known.
	Rows    func(argv []string, key string) []string
	Metrics []Metric
	File    bool // the tool writes a file of this format, not its standard output
	// Read finds the rows of an output. Its error names the line, and is ErrNothing if
	// the output has no result at all, as that of a server.
	Read func(output []byte) ([]Row, error)
}

// ErrNothing says that there is no result in an output, not even the beginning of one.
var ErrNothing = errors.New("no result found")

// Formats are all formats, in the order of docs/tools.md.
func Formats() []Format {
	return []Format{
		nixlbench, ucxPerftest, fabtests, perftest, ncclTests, iperf3, fio, aiperf, vllmBench, guidellm,
	}
}

// Lookup finds a format by its name.
func Lookup(name string) (Format, bool) {
	all := Formats()
	i := slices.IndexFunc(all, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return all[i], true
}

// nothing is ErrNothing with a reason.
func nothing(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrNothing}, args...)...)
}

// at is an error with its place.
func at(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: "+format, append([]any{line}, args...)...)
}
