package html

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
)

// Cell is what one rank sends to another.
type Cell struct {
	From, To int
	Bytes    int64 // above 0
}

// heats are the colours of a heat map on white, from the least bytes to the most;
// the style sheet has others on black.
var heats = []string{"#d6e6f4", "#abd0e6", "#6aaed6", "#3787c0", "#1b64a5", "#0a468c", "#062b5c"}

// mostBlocks is how many rows and columns a heat map has; more ranks than that are
// shown as blocks of several.
const mostBlocks = 64

// Block is how many ranks a row and a column of the heat map of so many ranks stand for.
func Block(ranks int) int { return (ranks + mostBlocks - 1) / mostBlocks }

// Drawn is how many cells a heat map of these has, which is what it costs in a page.
func Drawn(ranks int, cells []Cell) int { return len(sums(ranks, cells)) }

// sums adds the cells up in blocks, by row and column.
func sums(ranks int, cells []Cell) map[[2]int]int64 {
	of := make(map[[2]int]int64, min(len(cells), mostBlocks*mostBlocks))
	each := Block(ranks)
	for _, c := range cells {
		at := [2]int{c.From / each, c.To / each}
		if of[at] > math.MaxInt64-c.Bytes {
			of[at] = math.MaxInt64
			continue
		}
		of[at] += c.Bytes
	}
	return of
}

// Extent is the least and the most bytes that the heat map of these has a colour for: the
// scale of one map, or joined with those of others a scale on which all can be compared.
type Extent struct{ Least, Most int64 }

// ExtentOf is that of one map; of one without cells Most is 0.
func ExtentOf(ranks int, cells []Cell) Extent {
	e := Extent{math.MaxInt64, 0}
	for _, b := range sums(ranks, cells) {
		e = e.Join(Extent{b, b})
	}
	return e
}

// Join is the extent of both.
func (e Extent) Join(o Extent) Extent { return Extent{min(e.Least, o.Least), max(e.Most, o.Most)} }

// HeatMap draws a traffic matrix: a row for each sender, a column for each receiver,
// a logarithmic scale of colours, nothing where nothing is sent, a square in the cells
// of ranks with themselves. label writes an amount of bytes.
func HeatMap(name string, ranks int, cells []Cell, scale Extent, label func(bytes int64) string) template.HTML {
	of, each := sums(ranks, cells), Block(ranks)
	rows := (ranks + each - 1) / each
	side := math.Floor(min(max(352/float64(rows), 5), 44))
	const left, top = 50., 40.
	width, height := max(left+side*float64(rows)+10, 300), top+side*float64(rows)+50
	s := figure(width, height, "heat", name)
	least, most := scale.Least, scale.Most
	edge := side * float64(rows)
	s.text(left, 12, "start", "to rank →", "class", "dim")
	s.text(2, top-6, "start", "from ↓", "class", "dim")
	s.rect(left, top, edge, edge, "fill", "none", "stroke", "currentColor", "stroke-opacity", "0.4")
	for i := 0; i < rows; i += int(math.Ceil(34 / side)) { // a label of four digits is that wide
		at := float64(i)*side + side/2
		s.text(left-5, top+at+4, "end", strconv.Itoa(i*each))
		s.text(left+at, top-5, "middle", strconv.Itoa(i*each))
	}
	for row := range rows {
		for column := range rows {
			if b, ok := of[[2]int{row, column}]; ok {
				heat, own := heatOf(b, least, most), each == 1 && row == column
				shape := []string{
					"x", px(left + float64(column)*side), "y", px(top + float64(row)*side), "width", px(side), "height",
					px(side), "fill", heats[heat],
				}
				if side >= 12 { // room for a line between cells
					shape = append(shape, "stroke", "#ffffff", "class", "pt cell h"+strconv.Itoa(heat))
				} else {
					shape = append(shape, "class", "pt h"+strconv.Itoa(heat))
				}
				s.open("rect", shape...)
				if own {
					s.title(ranksText(row, each, ranks) + " to itself: " + label(b))
				} else {
					s.title(ranksText(row, each, ranks) + " → " + ranksText(column, each, ranks) + ": " + label(b))
				}
				s.close("rect")
				if own {
					s.rect(left+(float64(column)+0.3)*side, top+(float64(row)+0.3)*side, 0.4*side, 0.4*side, "fill",
						"none", "stroke", "#ffffff", "pointer-events", "none")
				}
			}
		}
	}
	legend(s, left, top+edge+16, least, most, label)
	return s.done()
}

// legend has the colours with the amounts at their ends.
func legend(s *svg, x, y float64, least, most int64, label func(int64) string) {
	if most == 0 {
		s.text(x, y+10, "start", "nothing is sent")
		return
	}
	first, last := 0, len(heats)-1
	if least == most {
		first = last
	}
	for i := first; i <= last; i++ {
		s.rect(x+float64(i-first)*20, y, 20, 10, "fill", heats[i], "class", "h"+strconv.Itoa(i))
	}
	if least != most {
		s.text(x, y+24, "start", label(least))
		s.text(x+20*float64(len(heats))+6, y+10, "start", label(most)+" (log)")
		return
	}
	s.text(x+26, y+10, "start", label(most))
}

// heatOf is the place of an amount on the logarithmic scale of colours.
func heatOf(b, least, most int64) int {
	if least >= most {
		return len(heats) - 1
	}
	share := math.Log(float64(b)/float64(least)) / math.Log(float64(most)/float64(least))
	return min(max(int(share*float64(len(heats))), 0), len(heats)-1)
}

func ranksText(row, each, ranks int) string {
	if each == 1 {
		return fmt.Sprintf("rank %d", row)
	}
	return fmt.Sprintf("ranks %d–%d", row*each, min((row+1)*each, ranks)-1)
}
