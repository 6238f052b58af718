package output

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

var (
	// noNumber matches what tools print instead of a number.
	noNumber  = lazyregexp.New(`(?i)^[+-]?(nan|inf(inity)?)$`)
	integer   = lazyregexp.New(`^-?\d+$`)
	shortSize = lazyregexp.New(`^\d+(\.\d+)?[kmgKMG]?$`)
	// blank matches what stands for a missing number.
	blank = lazyregexp.New(`^(?i:-+|n/?a|none|null|\*+|\?+)$`)
	// numeric matches a field that is rather a number than a word.
	numeric = lazyregexp.New(`^[=+-]*\.?\d[\d.,]*([eE][+-]?\d+)?[A-Za-z%]?$`)
)

// fits reports whether a field may be in a column.
func (c *column) fits(field string) bool {
	switch {
	case c.key != nil && c.key.As == "":
		return integer().MatchString(field)
	case c.key != nil && c.key.As == "size":
		return shortSize().MatchString(field)
	case c.key != nil, c.Words > 0, c.other != "", c.None != "" && field == c.None:
		return true
	case c.As.Regexp != nil:
		return c.As.matches(field)
	}
	return isDecimal(field) || noNumber().MatchString(field)
}

// fit reports whether fields are those of the columns.
func fit(columns []column, fields []string) bool {
	if len(fields) != len(columns) {
		return false
	}
	for i := range columns {
		if !columns[i].fits(fields[i]) {
			return false
		}
	}
	return true
}

// columnsOf returns the columns of a line with these fields.
func (s *scan) columnsOf(fields []string) []column {
	if len(fields) == len(s.loose) {
		return s.loose
	}
	return s.header
}

// rowLike reports whether fields are a row.
func (s *scan) rowLike(fields []string) bool {
	if s.worded() == nil {
		return fit(s.columnsOf(fields), fields)
	}
	numbers := len(s.header) - 1
	return len(fields) >= numbers && fit(s.header[1:], fields[len(fields)-numbers:])
}

// torn reports whether a line ends like a row, but does not begin like one, since another process
// printed into it: a row without its first column, or with other words before it.
func (s *scan) torn(fields []string) bool {
	due := len(s.header)
	if due > 2 {
		due--
	}
	if due > 5 { // enough of them for a row with its first two grown together
		due--
	}
	isWord := func(field string) bool { return !isDecimal(field) }
	if n := len(fields); n > 1 && n < due && !slices.ContainsFunc(fields, isWord) {
		due = n // the end of a row alone
	}
	if len(fields) < due {
		return false
	}
	columns, rest := s.header[len(s.header)-due:], fields[len(fields)-due:]
	return fit(columns, rest) && fractional(columns, rest)
}

// fractional reports whether a metric has a number with a point, as counters in logs do not.
func fractional(columns []column, fields []string) bool {
	for i, c := range columns {
		if c.metrics != nil && strings.Contains(fields[i], ".") {
			return true
		}
	}
	return false
}

// broken reports whether a line begins like a row, or is mostly numbers.
func (s *scan) broken(fields []string) bool {
	if len(fields) == 0 {
		return false
	}
	numbers := 0
	for _, f := range fields {
		if numeric().MatchString(f) {
			numbers++
		}
	}
	first := s.header[0]
	if first.key != nil && (first.key.As == "words" || first.key.As == "text") {
		return numbers > 1 && 2*numbers >= len(fields)
	}
	begins := first.fits(fields[0]) || numeric().MatchString(fields[0])
	if begins && len(fields) == len(s.header) && slices.ContainsFunc(fields, blank().MatchString) {
		return true
	}
	return begins && first.other == "" && (2*numbers >= len(fields) ||
		len(s.header) > 1 && numeric().MatchString(fields[1]) && s.header[1].fits(fields[1]))
}
