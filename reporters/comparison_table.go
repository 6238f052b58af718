package reporters

import (
	"slices"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weir-bench/weir/results"
)

// effects draws the table with as many columns as fit; full reports whether all did. Keys of cases that do not fit
// become lines above their rows.
func (t *terminal) effects(c *results.Comparison) (table string, full bool) {
	all := effectColumns(c)
	drawn, n := t.fitting(c, all)
	if n > 0 {
		return drawn, n == len(all)
	}
	var titles []string
	for _, e := range effectRows(c) {
		titles = append(titles, plain(e.Case))
	}
	drawn, n = t.fitting(c, all[1:]) // without the cases
	return t.titled(drawn, titles, nil), n == len(all)-1
}

// fitting draws those columns of a comparison that fit, and returns their number; 0: also the least do not.
func (t *terminal) fitting(c *results.Comparison, columns []tableColumn[*results.Effect]) (drawn string, n int) {
	for {
		table := tableOf(columns, effectRows(c))
		for i, e := range effectRows(c) {
			if last := len(columns) - 1; e.Verdict != "" {
				table.rows[i][last] = t.colored(standingOf(e.Verdict), table.rows[i][last])
			}
		}
		drawn = ruled(table.head, table.right, table.rows)
		if t.Width <= 0 || text.LongestLineLen(drawn) <= t.Width {
			return drawn, len(columns)
		}
		drop := slices.MaxFunc(columns, func(a, b tableColumn[*results.Effect]) int { return a.drop - b.drop }).drop
		if drop == 0 {
			return drawn, 0
		}
		columns = slices.DeleteFunc(slices.Clone(columns),
			func(col tableColumn[*results.Effect]) bool { return col.drop == drop })
	}
}
