package expression

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"weir/workload"
)

// value is what the table says of a metric for a case: that of the one row with
// this metric whose columns are all the case's own values.
func (r *Reference) value(t *term, s Scope) (float64, *Error) {
	found := -1
	for i, row := range r.Rows {
		if _, has := row.Values[t.metric]; !has || !row.fits(s) {
			continue
		}
		if found >= 0 {
			return 0, errorf(t.from, t.to, "add a column that tells them apart, or remove one", "rows %d and %d of reference %s both fit case %s", found+1, i+1, quoted(r.Name), s.Key)
		}
		found = i
	}
	if found < 0 {
		return 0, errorf(t.from, t.to, r.missing(t, s), "no row of reference %s fits case %s", quoted(r.Name), s.Key)
	}
	v := r.Rows[found].Values[t.metric]
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errorf(t.from, t.to, "", "%s in row %d of reference %s is %v", t.metric, found+1, quoted(r.Name), v)
	}
	return v, nil
}

// missing says which row would fit.
func (r *Reference) missing(t *term, s Scope) string {
	columns := map[string]bool{}
	for _, row := range r.Rows {
		for name := range row.At {
			columns[name] = true
		}
	}
	var cells []string
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		if text, ok := s.text(name); ok {
			cells = append(cells, name+": "+text)
		}
	}
	cells = append(cells, t.metric+": …")
	return fmt.Sprintf("add the row {%s}, or choose cases with where", strings.Join(cells, ", "))
}

func (row ReferenceRow) fits(s Scope) bool {
	for name, want := range row.At {
		if text, ok := s.text(name); !ok || text != want {
			return false
		}
	}
	return true
}

// text is the canonical text of an axis or option.
func (s Scope) text(name string) (string, bool) {
	if text, ok := s.Texts[name]; ok {
		return text, true
	}
	v, ok := s.knob(name)
	if !ok {
		return "", false
	}
	return workload.Text(v), true
}
