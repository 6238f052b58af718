package reporters

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// mostCells is the total number of cells of all heat maps of a page, at about 150 bytes each.
const mostCells = 16 << 10

// mostPatterns is how many patterns of a sequence have heat maps.
const mostPatterns = 12

// traffic is a traffic matrix of cases.
type traffic struct {
	name  string
	m     *matrix.Matrix // between ranks
	own   *matrix.Matrix // copies within ranks' own memory; nil: none
	first string         // key of the first case
	cases int
	of    string // run of the sequence with this pattern; ""
	drawn []html.Amount
}

// matrices returns the distinct matrices of all cases.
func matrices(doc *results.Document) html.Matrices {
	var out html.Matrices
	all, left := trafficOf(doc)
	drawn := 0
	patterns := map[string]int{} // by run
	var shown []*traffic
	scale := map[string]html.Extent{} // shared by all patterns of a run
	withOwn := slices.ContainsFunc(all, func(x *traffic) bool { return x.own != nil })
	for _, x := range all {
		if out.Table == nil {
			out.Table = &html.Table{Caption: "traffic matrices",
				Columns: []html.Column{{Head: "matrix"}, {Head: "ranks", Right: true}, {Head: "senders", Right: true},
					{Head: "receivers", Right: true}, {Head: "cells", Right: true}, {Head: "total", Right: true},
					{Head: "largest cell", Right: true},
					{Head: "busiest rank", Right: true}, {Head: "of it", Right: true}, {Head: "moved by"}}}
			if withOwn {
				out.Table.Columns = append(out.Table.Columns, html.Column{Head: "copied within ranks", Right: true})
			}
		}
		row := x.row()
		if withOwn {
			row = append(row, x.ownText())
		}
		out.Table.Rows = append(out.Table.Rows, html.Row{Cells: row})
		if x.of != "" {
			if patterns[x.of]++; patterns[x.of] > mostPatterns {
				continue
			}
		}
		var cells []html.Amount
		for c := range x.m.Cells() {
			cells = append(cells, html.Amount{From: c.From, To: c.To, Bytes: c.Bytes})
		}
		if x.own != nil {
			for c := range x.own.Cells() {
				cells = append(cells, html.Amount{From: c.From, To: c.To, Bytes: c.Bytes})
			}
		}
		if drawn += html.Drawn(x.m.Ranks(), cells); drawn > mostCells {
			left++
			continue
		}
		shown = append(shown, x)
		x.drawn = cells
		extent := html.ExtentOf(x.m.Ranks(), cells)
		if other, ok := scale[x.scale()]; ok {
			extent = extent.Join(other)
		}
		scale[x.scale()] = extent
	}
	for _, x := range shown {
		extent := scale[x.scale()]
		f := html.Figure{
			Title: x.name, Charts: []html.Chart{
				html.TrafficMap("traffic matrix "+x.name, x.m.Ranks(), x.drawn, extent, bytesText),
			},
		}
		if n := html.Block(x.m.Ranks()); n > 1 {
			f.Note = fmt.Sprintf("%d ranks: each row and each column is the sum of %d.", x.m.Ranks(), n)
		}
		if x.own != nil {
			f.Note = strings.TrimSpace(f.Note + fmt.Sprintf(
				" On the diagonal is what ranks copy within their own memory, %s in all.", bytesText(x.own.Total())))
		}
		out.Maps = append(out.Maps, f)
	}
	if out.Table != nil {
		out.Table.Folded = len(out.Table.Rows) > mostRows
	}
	var said []string
	for _, run := range slices.Sorted(maps.Keys(patterns)) {
		if more := patterns[run] - mostPatterns; more > 0 {
			said = append(said, fmt.Sprintf("Of %d further patterns of run %s there is no heat map; the table has them.",
				more, run))
		}
	}
	if left > 0 {
		said = append(said, fmt.Sprintf("Of %d matrices there is no heat map: the page would be too large.", left))
	}
	out.Note = strings.Join(said, " ")
	return out
}

// scale names the group of matrices with a common colour scale.
func (x *traffic) scale() string { return cmp.Or(x.of, x.name) }

func (x *traffic) row() []string {
	busiest, bytes := x.m.Bottleneck()
	moved := x.first
	if x.cases > 1 {
		moved += fmt.Sprintf(" and %d more", x.cases-1)
	}
	return []string{x.name, fmt.Sprint(x.m.Ranks()), fmt.Sprint(len(x.m.Senders())), fmt.Sprint(len(x.m.Receivers())),
		fmt.Sprint(x.m.NonZero()), bytesText(x.m.Total()), bytesText(x.m.Largest()), fmt.Sprint(busiest),
		bytesText(bytes), moved}
}

func (x *traffic) ownText() string {
	if x.own == nil {
		return "-"
	}
	return bytesText(x.own.Total())
}

// mostRead is how many cells of matrices are read or generated for a page, about 100 MB.
const mostRead = 4 << 20

// trafficOf finds the matrices of the cases: in their options, as rows or as arguments of a generator, or
// derived from them. unread counts those that are too large.
func trafficOf(doc *results.Document) (out []*traffic, unread int) {
	cells := 0
	known := map[string]*traffic{} // nil: unreadable, which the executor reports
	for _, c := range doc.Cases {
		text, given := c.Options["matrix"].(string)
		words, generated := c.Options["generate"].(string)
		mover, follows := workload.As[workload.MatrixMover](c.Workload)
		if !given && !generated && !follows {
			continue
		}
		id := text + "/" + setting(c, "own_cells")
		if generated {
			id = fmt.Sprint(words, "/", c.Options["ranks"])
		}
		if follows {
			id = plain(c.Run)
			if b, ok := workload.As[workload.Summarizer](c.Workload); ok {
				for _, name := range b.AmountOf() {
					id += "/" + setting(c, name)
				}
			}
		}
		x, ok := known[id]
		if !ok && cells > mostRead {
			known[id] = nil
			unread++
		} else if !ok {
			x = &traffic{first: plain(c.Key)}
			var err error
			switch {
			case follows:
				x.name = "of run " + plain(c.Run)
				if x.m, err = mover.Moves(c.Options); err == nil {
					x.m, x.own = x.m.Split()
				}
			case generated:
				x.name = fmt.Sprintf("%s of %v ranks", plain(words), c.Options["ranks"])
				x.m, err = generate(words, c.Options["ranks"])
			default:
				if x.m, err = option.ParseMatrix(text); err == nil {
					x.m, x.own = x.m.Split()
				}
				if setting(c, "own_cells") == option.OwnIgnore {
					x.own = nil
				}
				x.name = "of run " + plain(c.Run)
				if kind, _ := workload.Lookup(c.Workload); kind != nil && kind.Sequence != "" {
					x.of = plain(c.Run)
					x.name = "pattern " + setting(c, "pattern") + " of run " + x.of
				}
			}
			if err != nil {
				x = nil
			} else {
				out = append(out, x)
				cells += x.m.NonZero()
			}
			known[id] = x
		}
		if x != nil {
			x.cases++
		}
	}
	named := map[string]int{}
	for _, x := range out {
		named[x.name]++
	}
	for _, x := range out {
		if named[x.name] > 1 { // several explicit matrices in a run
			x.name = "of " + x.first
		}
	}
	return out, unread
}

// generate makes the matrix of a case's launches.
func generate(words string, ranks any) (*matrix.Matrix, error) {
	g, err := option.ParseGenerated(words)
	if err != nil {
		return nil, err
	}
	n, ok := option.Number(ranks)
	if !ok || n != math.Trunc(n) || n < 2 || n > matrix.MaxRanks {
		return nil, fmt.Errorf("%v is no number of ranks", ranks)
	}
	return g.Matrix(int(n))
}

// bytesText formats an amount with four digits.
func bytesText(b int64) string {
	v, unit := float64(b), "B"
	for _, larger := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if math.Abs(v) < 1<<10 {
			break
		}
		v, unit = v/(1<<10), larger
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + unit
}
