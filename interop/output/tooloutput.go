// Package output reads the numbers that benchmark tools print.
//
// A format describes the output of one tool: its metrics, their units and their meaning. Units are
// converted as exact fractions, and only the result is rounded to float64. A metric with the
// meaning of one of weir's has weir's name; others have other names. Readers are strict: an output
// that is truncated, contradicts itself or reports an error gives an error with its line, never
// fewer rows.
package output

import (
	"errors"
	"fmt"
)

// Row is one result of a tool: its keys and its numbers.
type Row struct {
	At      map[string]string  // by key of the format, as block_size or batch
	Values  map[string]float64 // by metric, in the metric's unit; missing if the tool printed none
	Load    map[string]string  // what the output says of the load, as input; missing if it says nothing
	Line    int                // first line in the output
	Others  map[string]float64 // columns that the format does not know, by their own names, as printed in their unit
	Version string             // of the tool, if the output says it
	Between int                // lines before it in the table that others printed, and that were passed over
}

func newRow(line int) Row {
	return Row{At: map[string]string{}, Values: map[string]float64{}, Others: map[string]float64{}, Line: line}
}

// Metric is one number of a row.
type Metric struct {
	Name      string
	Unit      string // a symbol of package quantity; "" for a count or a ratio
	Better    string // Higher, Lower or Neither
	MayBeZero bool   // 0 is a valid measurement
	Doc       string // what exactly the tool counted
}

// The better directions of a metric.
const (
	Higher  = "higher"
	Lower   = "lower"
	Neither = "none"
)

// Format is the output of one tool.
type Format struct {
	Name     string
	Doc      string   // the tool, and the option that makes it print this
	Versions string   // of the tool with the outputs or sources that were read
	Keys     []string // keys that may identify a row
	// Rows returns the values of a key that a command line of the tool requests; nil if unknown.
	Rows    func(argv []string, key string) []string
	Metrics []Metric
	Columns bool // columns that are no metrics are passed on as Others
	File    bool // the tool writes a file of this format, not its standard output
	// Read returns the rows of an output. Errors name the line. The error is ErrNothing if the
	// output has no result at all, as that of a server.
	Read func(output []byte) ([]Row, error)
}

// ErrNothing is the error of an output without any result, not even an incomplete one.
var ErrNothing = errors.New("no result found")

// nothing is ErrNothing with a reason.
func nothing(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrNothing}, args...)...)
}

// at is an error with its line.
func at(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: "+format, append([]any{line}, args...)...)
}
