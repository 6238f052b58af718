package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// tableData describes a table of text: its beginning, its end and its lines.
type tableData struct {
	Header   pattern // the line of headings; its group has all of them
	None     string  // the reason if an output has no table
	Failure  pattern // a line with an error of the tool
	Says     string  // prefix of the message of that error
	Skip     pattern // a line that is not a row
	Torn     bool    // a line that only ends like a row is an error
	Closing  []closing
	Unclosed string // the error of a table without all closing lines
	Late     string // the error of a row after a closing line; "": it is a row
	Needs    texts  // required headings
	Lacks    string // the error if one is missing
	Again    string // prefix of the metric of a repeated heading; "": that is an error
	Refused  map[string]string
	Unread   map[string]unread
	Labelled labelled
}

// closing is a line after the rows. Its group is a metric of all rows.
type closing struct {
	Line   pattern
	Metric string
}

// labelled are rows that name each of their numbers and need no header.
type labelled struct {
	Begins   string
	Row      pattern // with a group for each column
	Headings []string
	Else     string // the error of a row that does not match
}

// unread is a column without a metric.
type unread struct {
	Words int     // number of words that are not numbers; 0: it is a number
	As    pattern // a text instead of a number
	None  string  // means that there is no number
	Must  pattern // a required form
	Else  string  // the error otherwise
}

// column describes one column of a table.
type column struct {
	heading string
	key     *keyData
	metrics []columnMetric
	unread
}

type columnMetric struct {
	name   string
	unit   scale
	noZero bool
	beside texts
}

// tableFormat reads tables.
type tableFormat struct {
	tableData
	tool    *tool
	special function
	columns map[string]column
}

func (t *tool) tableReader(special function) (func([]byte) ([]Row, error), error) {
	r := &tableFormat{tableData: *t.Table, tool: t, special: special, columns: map[string]column{}}
	for i, k := range t.Keys {
		for _, heading := range k.Column {
			r.columns[heading] = column{heading: heading, key: &t.Keys[i]}
		}
	}
	for heading, u := range r.Unread {
		r.columns[heading] = column{heading: heading, unread: u}
	}
	for _, m := range t.Metrics {
		for heading, name := range m.Columns {
			unit, err := scaleOf(name)
			if err != nil {
				return nil, fmt.Errorf("metric %s: %w", m.Name, err)
			}
			c := r.columns[heading]
			c.heading = heading
			c.metrics = append(c.metrics, columnMetric{m.Name, unit, m.Zero == "absent", m.Beside})
			r.columns[heading] = c
		}
	}
	return r.read, nil
}

func (t *tableFormat) read(output []byte) ([]Row, error) {
	lines, err := textLines(output)
	if err != nil {
		return nil, err
	}
	s := scan{tableFormat: t, lines: untagged(lines), closed: make([]bool, len(t.Closing))}
	found, err := s.rows()
	if t.special.final != nil {
		return t.special.final(t.tool, s.lines, found, err)
	}
	return found, err
}

var errNoRow = errors.New("the table has a header but no result")

// scan is the state of reading an output.
type scan struct {
	*tableFormat
	lines  []string
	header []column
	begun  int // the line of the header
	closed []bool
	all    map[string]float64 // metrics of all rows
	found  rows
}

func (s *scan) rows() ([]Row, error) {
	for i, line := range s.lines {
		if err := s.line(i+1, line); err != nil {
			return nil, err
		}
	}
	switch {
	case s.begun == 0:
		return nil, nothing("no table%s", s.None)
	case len(s.found.list) == 0:
		return nil, at(len(s.lines), "%w", errNoRow)
	case slices.Contains(s.closed, false):
		return nil, at(len(s.lines), "%s", s.Unclosed)
	}
	for _, row := range s.found.list {
		for name, v := range s.all {
			row.Values[name] = v
		}
	}
	return s.found.list, nil
}

func (s *scan) line(n int, line string) error {
	switch {
	case s.Failure.matches(line):
		return at(n, "%s: %s", s.Says, quote(line))
	case s.Header.matches(line):
		if s.begun != 0 {
			return at(n, "a second table, after that of line %d", s.begun)
		}
		s.begun = n
		return s.readHeader(n, s.Header.FindStringSubmatch(line)[1])
	case s.Labelled.Begins != "" && strings.HasPrefix(line, s.Labelled.Begins):
		return s.labelled(n, line)
	case s.header == nil || s.Skip.matches(line):
		return nil
	}
	if isClosing, err := s.close(n, line); isClosing || err != nil {
		return err
	}
	switch {
	case s.Torn && hidesRow(line, len(s.header)):
		return at(n, "other output interrupts a row: %s", quote(line))
	case !beginsWithDigit(line) && (s.worded() == nil || strings.TrimSpace(line) == ""):
		return nil
	case s.Late != "" && slices.Contains(s.closed, true):
		return at(n, "%s: %s", s.Late, quote(line))
	}
	row, err := s.row(n, s.header, strings.Fields(line))
	if err != nil {
		return err
	}
	return s.found.add(row)
}

func (s *scan) labelled(n int, line string) error {
	m := s.Labelled.Row.FindStringSubmatch(line)
	if m == nil {
		return at(n, "%s: %s", s.Labelled.Else, quote(line))
	}
	var columns []column
	for _, heading := range s.Labelled.Headings {
		columns = append(columns, s.columns[heading])
	}
	s.begun = n
	row, err := s.row(n, dropIncomplete(columns), m[1:])
	if err != nil {
		return err
	}
	return s.found.add(row)
}

// close reports whether a line closes the table.
func (s *scan) close(n int, line string) (bool, error) {
	for i, c := range s.Closing {
		m := c.Line.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		s.closed[i] = true
		if c.Metric == "" {
			return true, nil
		}
		v, err := same.of(m[1])
		if err != nil {
			return true, at(n, "%w", err)
		}
		s.all = map[string]float64{c.Metric: v}
		return true, nil
	}
	return false, nil
}

// worded returns the column with the words that no other column has, nil if there is none.
func (s *scan) worded() *keyData {
	if k := s.header[0].key; k != nil && k.As == "words" {
		return k
	}
	return nil
}

// row converts the fields of a line to a row.
func (t *tableFormat) row(n int, columns []column, fields []string) (Row, error) {
	row := Row{At: map[string]string{}, Values: map[string]float64{}, Line: n}
	if k := columns[0].key; k != nil && k.As == "words" {
		columns = columns[1:]
		if extra := len(fields) - len(columns); extra > 0 {
			row.At[k.Name] = strings.Join(fields[:extra], " ")
			fields = fields[extra:]
		}
	}
	if len(fields) != len(columns) {
		return row, at(n, "%d columns, but the header has %d: the line is truncated or mixed with other output",
			len(fields),
			len(columns))
	}
	for i, c := range columns {
		if err := t.field(&row, i, c, fields[i]); err != nil {
			return row, at(n, "%w", err)
		}
	}
	return row, nil
}

// field sets the value of one column in the row.
func (t *tableFormat) field(row *Row, i int, c column, field string) (err error) {
	switch {
	case c.key != nil && c.key.As == "size":
		row.At[c.key.Name], err = t.special.size(field)
		return err
	case c.key != nil:
		row.At[c.key.Name] = field
		return nil
	case c.Words > 0:
		return nil
	case c.As.Regexp != nil && !c.As.matches(field):
		return fmt.Errorf("column %s: %s is not a number", c.heading, quote(field))
	case c.As.Regexp == nil && (c.None == "" || field != c.None):
		if err := row.number(c.metrics, field); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	if c.Must.Regexp != nil && !c.Must.matches(field) {
		return errors.New(strings.ReplaceAll(c.Else, "{value}", field))
	}
	return nil
}

// number sets the metrics of a column in the row.
func (r *Row) number(metrics []columnMetric, field string) error {
	if _, err := same.of(field); err != nil {
		return err
	}
	for _, m := range metrics {
		v, err := m.unit.of(field)
		if err != nil {
			return err
		}
		if v != 0 || !m.noZero {
			r.Values[m.name] = v
		}
	}
	return nil
}
