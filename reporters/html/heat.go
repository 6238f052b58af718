package html

import (
	"fmt"
	"math"
	"strconv"
)

// Amount is the data that one rank sends to another.
type Amount struct {
	From, To int
	Bytes    int64 // above 0
}

// mostBlocks is the maximal number of rows and columns of a heat map of ranks; more ranks are grouped.
const mostBlocks = 64

// Block is the number of ranks per row and column of a heat map.
func Block(ranks int) int { return (ranks + mostBlocks - 1) / mostBlocks }

// Drawn is the number of cells of a heat map, which determines its size in a page.
func Drawn(ranks int, amounts []Amount) int { return len(sums(ranks, amounts)) }

// sums adds up the amounts in blocks, by row and column.
func sums(ranks int, amounts []Amount) map[[2]int]int64 {
	of := make(map[[2]int]int64, min(len(amounts), mostBlocks*mostBlocks))
	each := Block(ranks)
	for _, c := range amounts {
		at := [2]int{c.From / each, c.To / each}
		if of[at] > math.MaxInt64-c.Bytes {
			of[at] = math.MaxInt64
			continue
		}
		of[at] += c.Bytes
	}
	return of
}

// Extent is the range of bytes of a heat map's colours; joined extents give comparable maps.
type Extent struct{ Least, Most int64 }

// ExtentOf is the extent of one map; Most is 0 without cells.
func ExtentOf(ranks int, amounts []Amount) Extent {
	e := Extent{math.MaxInt64, 0}
	for _, b := range sums(ranks, amounts) {
		e = e.Join(Extent{b, b})
	}
	return e
}

// Join is the extent of both.
func (e Extent) Join(o Extent) Extent { return Extent{min(e.Least, o.Least), max(e.Most, o.Most)} }

// heat is the position of an amount on the logarithmic colour scale.
func (e Extent) heat(b int64) float64 {
	if e.Least >= e.Most {
		return 1
	}
	share := math.Log(float64(b)/float64(e.Least)) / math.Log(float64(e.Most)/float64(e.Least))
	return math.Round(min(max(share, 0), 1)*1000) / 1000
}

// TrafficMap is the heat map of a traffic matrix: a row for each sender, a column for each receiver, and
// no cell for no data. label formats bytes.
func TrafficMap(name string, ranks int, amounts []Amount, scale Extent, label func(bytes int64) string) Chart {
	of, each := sums(ranks, amounts), Block(ranks)
	n := (ranks + each - 1) / each
	c := Chart{Kind: Heat, Name: name, X: Axis{Name: "to rank"}, Y: Axis{Name: "from rank"}}
	for i := range n {
		c.Rows = append(c.Rows, strconv.Itoa(i*each))
	}
	c.Columns = c.Rows
	for row := range n {
		for column := range n {
			b, ok := of[[2]int{row, column}]
			if !ok {
				continue
			}
			own := each == 1 && row == column
			says := ranksText(row, each, ranks) + " → " + ranksText(column, each, ranks) + ": " + label(b)
			if own {
				says = ranksText(row, each, ranks) + " to itself: " + label(b)
			}
			c.Cells = append(c.Cells, Cell{Row: row, Column: column, Heat: scale.heat(b), Own: own, Says: says})
		}
	}
	if scale.Most > 0 {
		c.Least, c.Most = label(scale.Least), label(scale.Most)
	}
	return c
}

func ranksText(row, each, ranks int) string {
	if each == 1 {
		return fmt.Sprintf("rank %d", row)
	}
	return fmt.Sprintf("ranks %d–%d", row*each, min((row+1)*each, ranks)-1)
}
