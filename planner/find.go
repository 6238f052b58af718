// Search of cases for assertions that use other cases.

package planner

import (
	"fmt"
	"strconv"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/quantity"
)

// finder finds cases for assertions that use other cases. It caches results, since neighbouring
// cases ask for the same.
type finder struct {
	table  *Table
	found  map[findKey][]string
	byText map[string]map[string][]*row // run, axes, and whether in base units → text of the values → cases
	rows   map[string]*row              // the rows found, by key
}

func newFinder(t *Table) *finder {
	return &finder{
		table: t, found: map[findKey][]string{}, byText: map[string]map[string][]*row{}, rows: map[string]*row{},
	}
}

type findKey struct {
	run, at string
	where   *dsl.Condition
}

// Find returns the keys of a run's cases with the given values that satisfy a condition.
func (f *finder) Find(name string, at map[string]string, where *dsl.Condition) []string {
	run := f.table.table(name)
	if run == nil {
		return nil
	}
	var axes []int
	texts := map[string]string{}
	for i, a := range run.run.Axes {
		if text, ok := at[a.Name]; ok {
			axes = append(axes, i)
			texts[a.Name] = text
		}
	}
	key := findKey{name, Key("", texts), where}
	if keys, ok := f.found[key]; ok {
		return keys
	}
	keys := []string{}
	rows := f.rowsBy(run, axes, false)[key.at]
	if rows == nil {
		rows = f.rowsBy(run, axes, true)[Key("", inBaseUnits(texts))]
	}
	for _, r := range rows {
		if where != nil {
			if f.table.deadlineExceeded(run.run.Range) {
				return nil
			}
			if ok, err := where.Eval(r.scope()); err != nil || !ok {
				continue // a condition of a known run was checked when it was compiled
			}
		}
		found := r.key()
		f.rows[found] = r
		keys = append(keys, found)
	}
	f.found[key] = keys
	return keys
}

// Scope returns the case of a key that Find returned.
func (f *finder) Scope(key string) (dsl.Scope, bool) {
	r, ok := f.rows[key]
	if !ok {
		return dsl.Scope{}, false
	}
	return r.scopeIn(f), true
}

// rowsBy returns a run's cases by the text of their values on some axes, as written or in base
// units.
func (f *finder) rowsBy(run *runTable, axes []int, base bool) map[string][]*row {
	key := fmt.Sprint(run.run.Name, axes, base)
	if f.byText[key] == nil {
		rows := map[string][]*row{}
		text := byAxes(run, axes, func(r *row) string {
			texts := r.texts(axes)
			if base {
				texts = inBaseUnits(texts)
			}
			return Key("", texts)
		})
		for _, r := range run.rows {
			rows[text(r)] = append(rows[text(r)], r)
		}
		f.byText[key] = rows
	}
	return f.byText[key]
}

// inBaseUnits normalizes texts, so that equal values on the axes of two runs are equal: 4096 and
// 4KiB.
func inBaseUnits(texts map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range texts {
		out[name] = text
		if q, err := quantity.Parse(text); err == nil {
			out[name] = strconv.FormatFloat(quantity.Round(q.Value), 'g', -1, 64)
		}
	}
	return out
}
