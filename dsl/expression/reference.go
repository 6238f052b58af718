package expression

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
)

// value returns the table's value of a metric for a case: that of the one row with this metric that
// has only values of the case in its columns.
func (r *Reference) value(t *term, s Scope) (float64, *Error) {
	found := -1
	for _, i := range r.fitting(s) {
		if _, has := r.Rows[i].Values[t.metric]; !has {
			continue
		}
		if found >= 0 {
			return 0, t.errorf("add a column that distinguishes them, or remove one",
				"rows %d and %d of reference %s both fit case %s", found+1, i+1, quoted(r.Name), s.Key)
		}
		found = i
	}
	if found < 0 {
		return 0, t.errorf(r.missing(t, s), "no row of reference %s fits case %s", quoted(r.Name), s.Key)
	}
	v := r.Rows[found].Values[t.metric]
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, t.errorf("", "%s in row %d of reference %s is %v", t.metric, found+1, quoted(r.Name), v)
	}
	return v, nil
}

// missing describes the row that would fit.
func (r *Reference) missing(t *term, s Scope) string {
	var cells []string
	for _, name := range r.columns() {
		if text, ok := s.text(name); ok {
			cells = append(cells, name+": "+text)
		}
	}
	cells = append(cells, t.metric+": …")
	return fmt.Sprintf("add the row {%s}, or select cases with where", strings.Join(cells, ", "))
}

// referenceIndex finds rows without a linear search, since there are many cases.
type referenceIndex struct {
	of      []ReferenceRow
	columns []string // of all rows, sorted
	shapes  []shape
}

// shape are the rows with the same columns.
type shape struct {
	columns []string
	rows    map[string][]int // by the text of their cells
}

func (r *Reference) indexed() *referenceIndex {
	if x := r.index; x != nil && len(x.of) == len(r.Rows) && (len(x.of) == 0 || &x.of[0] == &r.Rows[0]) {
		return x
	}
	x := &referenceIndex{of: r.Rows}
	shapes := map[string]int{}
	for i, row := range r.Rows {
		columns := slices.Sorted(maps.Keys(row.At))
		key := strings.Join(columns, "\x00")
		n, ok := shapes[key]
		if !ok {
			n = len(x.shapes)
			shapes[key] = n
			x.shapes = append(x.shapes, shape{columns, map[string][]int{}})
			x.columns = append(x.columns, columns...)
		}
		cells, _ := cellsOf(columns, func(name string) (string, bool) { return row.At[name], true })
		x.shapes[n].rows[cells] = append(x.shapes[n].rows[cells], i)
	}
	slices.Sort(x.columns)
	x.columns = slices.Compact(x.columns)
	r.index = x
	return x
}

// cellsOf joins the texts of some columns; not ok if one is missing.
func cellsOf(columns []string, value func(name string) (string, bool)) (cells string, ok bool) {
	var b strings.Builder
	for _, name := range columns {
		text, ok := value(name)
		if !ok {
			return "", false
		}
		b.WriteString(text)
		b.WriteByte(0)
	}
	return b.String(), true
}

// columns returns the names of all axes and options of the rows, sorted.
func (r *Reference) columns() []string { return r.indexed().columns }

// fitting returns the indices of the rows that have only values of the case in their columns, in
// order.
func (r *Reference) fitting(s Scope) []int {
	var out []int
	for _, shape := range r.indexed().shapes {
		if cells, ok := cellsOf(shape.columns, s.text); ok {
			out = append(out, shape.rows[cells]...)
		}
	}
	slices.Sort(out)
	return out
}

// text returns the canonical text of an axis or option.
func (s Scope) text(name string) (string, bool) {
	if text, ok := s.Texts[name]; ok {
		return text, true
	}
	v, ok := s.knob(name)
	if !ok {
		return "", false
	}
	return option.Text(v), true
}
