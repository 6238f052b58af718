package output

import (
	"errors"
	"fmt"
	"strings"
)

// tableData describes a table of text: its beginning, its end and its lines.
type tableData struct {
	Header   pattern // the line of headings; its group has all of them
	None     string  // the reason if an output has no table
	Failure  pattern // a line with an error of the tool
	Says     string  // prefix of the message of that error
	Skip     pattern // a line that is not a row
	Title    pattern // a line above a table; its group is the key that tells several tables apart
	Subtitle pattern // a line below that, also below the header
	Units    units   // a line of units below the header
	Section  pattern // a line above a further table of the same rows; its group is the prefix of the metrics
	Closing  []closing
	Unclosed string // the error of a table without all closing lines
	Late     string // the error of a row after a closing line; "": it is a row
	Needs    texts  // required headings
	Lacks    string // the error if one is missing
	Again    string // prefix of the metric of a repeated heading; "": that is an error
	Refused  map[string]string
	Only     string // the error of an output with only rows that Skip matches
	Unread   map[string]unread
	Labelled labelled
}

// units is a line of units, which must be as expected.
type units struct {
	Line, Must pattern
	Else       string
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
	other   string // the own name of a heading without metric
	scale   scale  // of its unit
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
		c := column{heading: heading, unread: u}
		if u.Words == 0 && u.As.Regexp == nil && u.None == "" && u.Must.Regexp == nil {
			c = ownColumn(heading)
		}
		r.columns[heading] = c
	}
	for _, m := range t.Metrics {
		for heading, name := range m.Columns {
			unit, err := scaleOf(name)
			if err != nil {
				return nil, fmt.Errorf("metric %s: %w", m.Name, err)
			}
			c := r.columns[heading]
			c.heading, c.other = heading, ""
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
	s := scan{tableFormat: t, lines: untagged(lines)}
	found, err := s.rows()
	if t.special.final != nil {
		return t.special.final(t.tool, s.lines, found, err)
	}
	return found, err
}

// row converts the fields of a line to a row.
func (t *tableFormat) row(n int, columns []column, fields []string) (Row, error) {
	row := newRow(n)
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
	case c.key != nil && c.key.As == "" && !integer().MatchString(field):
		return fmt.Errorf("column %s: %s is not a whole number", c.heading, quote(field))
	case c.key != nil:
		row.At[c.key.Name] = field
		return nil
	case c.Words > 0:
		return nil
	case c.As.Regexp != nil && !c.As.matches(field):
		return fmt.Errorf("column %s: %s is not a number", c.heading, quote(field))
	case c.As.Regexp == nil && (c.None == "" || field != c.None):
		if err := row.number(c, field); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	if c.Must.Regexp != nil && !c.Must.matches(field) {
		return errors.New(strings.ReplaceAll(c.Else, "{value}", field))
	}
	return nil
}

// number sets the metrics of a column in the row, or its own name.
func (r *Row) number(c column, field string) error {
	if c.other != "" {
		if v, err := c.scale.signed(field); err == nil { // a text is not passed on
			r.Others[c.other] = v
		}
		return nil
	}
	if _, err := same.of(field); err != nil {
		return err
	}
	for _, m := range c.metrics {
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
