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
	columns := all
	fits := func(drawn string) bool { return t.Width <= 0 || text.LongestLineLen(drawn) <= t.Width }
	drawn := t.effectTable(c, columns)
	for !fits(drawn) {
		least := slices.MaxFunc(columns, func(a, b effectColumn) int { return a.drop - b.drop })
		if least.drop == 0 {
			break
		}
		columns = slices.DeleteFunc(slices.Clone(columns),
			func(col effectColumn) bool { return col.drop == least.drop })
		drawn = t.effectTable(c, columns)
	}
	if fits(drawn) {
		return drawn, len(columns) == len(all)
	}
	var titles []string
	for _, e := range effectRows(c) {
		titles = append(titles, plain(e.Case))
	}
	below := all[1:] // without the cases
	for drawn = t.effectTable(c, below); !fits(drawn); drawn = t.effectTable(c, below) {
		least := slices.MaxFunc(below, func(a, b effectColumn) int { return a.drop - b.drop })
		if least.drop == 0 {
			break
		}
		below = slices.DeleteFunc(slices.Clone(below), func(col effectColumn) bool { return col.drop == least.drop })
	}
	return t.titled(drawn, titles, nil), len(below) == len(all)-1
}

// effectTable draws columns of a comparison.
func (t *terminal) effectTable(c *results.Comparison, columns []effectColumn) string {
	var head []string
	var right []bool
	for _, col := range columns {
		head, right = append(head, col.head), append(right, col.right)
	}
	var rows [][]string
	for _, e := range effectRows(c) {
		var row []string
		for _, col := range columns {
			row = append(row, col.cell(e))
		}
		if e.Verdict != "" {
			row[len(row)-1] = t.colored(standingOf(e.Verdict), row[len(row)-1])
		}
		rows = append(rows, row)
	}
	return ruled(head, right, rows)
}
