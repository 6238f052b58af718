package tooloutput

import (
	"maps"
	"slices"
	"strings"
)

// rows collects the rows of an output and refuses two with the same keys.
type rows struct {
	list []Row
	seen map[string]int // the line of each
}

func (r *rows) add(row Row) error {
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	if len(row.Values) == 0 {
		return at(row.Line, "the line has no number")
	}
	place := place(row.At)
	if line, ok := r.seen[place]; ok {
		if place == "" {
			return at(row.Line, "a second result, after that of line %d", line)
		}
		return at(row.Line, "a second result of %s, after that of line %d", place, line)
	}
	r.seen[place] = row.Line
	r.list = append(r.list, row)
	return nil
}

// place names a row by its keys.
func place(keys map[string]string) string {
	var parts []string
	for _, k := range sortedNames(keys) {
		parts = append(parts, k+" "+quote(keys[k]))
	}
	return strings.Join(parts, ", ")
}

// column is what one column of a table is: a key, a metric with the unit it is printed
// in, or neither, but a number all the same.
type column struct {
	key    string
	metric string
	unit   scale
	text   bool   // of neither: not a number either
	none   string // stands for no number, as N/A
	noZero bool   // 0 stands for no number
}

// readRow reads the fields of one line of a table.
func readRow(line int, columns []column, fields []string) (Row, error) {
	if len(fields) != len(columns) {
		return Row{}, cut(line, len(fields), len(columns))
	}
	row := Row{At: map[string]string{}, Values: map[string]float64{}, Line: line}
	for i, c := range columns {
		if c.key != "" {
			row.At[c.key] = fields[i]
			continue
		}
		if c.text || c.none != "" && fields[i] == c.none {
			continue
		}
		v, err := c.unit.of(fields[i])
		if err != nil {
			return Row{}, at(line, "column %d: %w", i+1, err)
		}
		if c.metric != "" && (v != 0 || !c.noZero) {
			row.Values[c.metric] = v
		}
	}
	return row, nil
}

// cut is the error of a line that has not as many columns as the header.
func cut(line, has, due int) error {
	return at(line, "%d columns where the header has %d: the line is cut short or garbled", has, due)
}

func sortedNames[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
