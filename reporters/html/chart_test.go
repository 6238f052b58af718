package html

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func bytesOf(b int64) string { return fmt.Sprint(b, "B") }

// A heat map has a cell where something is sent and none elsewhere: row is sender, column receiver,
// and the scale is logarithmic.
func TestHeatMapCells(t *testing.T) {
	cells := map[string]Cell{}
	chart := TrafficMap("m", 3, []Amount{{0, 1, 1}, {0, 2, 1 << 20}, {1, 1, 1 << 10}, {2, 1, 1 << 10}},
		Extent{1, 1 << 20}, bytesOf)
	for _, c := range chart.Cells {
		cells[c.Says] = c
	}
	want := map[string]Cell{
		"rank 0 → rank 1: 1B":       {Row: 0, Column: 1, Heat: 0},
		"rank 0 → rank 2: 1048576B": {Row: 0, Column: 2, Heat: 1},
		"rank 1 to itself: 1024B":   {Row: 1, Column: 1, Heat: 0.5, Own: true},
		"rank 2 → rank 1: 1024B":    {Row: 2, Column: 1, Heat: 0.5},
	}
	for says, c := range want {
		c.Says = says
		if cells[says] != c {
			t.Errorf("%+v, want %+v", cells[says], c)
		}
	}
	if len(cells) != len(want) || chart.Least != "1B" || chart.Most != "1048576B" {
		t.Errorf("%d cells from %s to %s", len(cells), chart.Least, chart.Most)
	}
}

// Beyond 64 ranks the cells of a block are added up, and no byte is lost.
func TestHeatMapBlocks(t *testing.T) {
	if Block(64) != 1 || Block(65) != 2 || Block(1024) != 16 || Block(1000) != 16 {
		t.Error("blocks of", Block(64), Block(65), Block(1024), Block(1000))
	}
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(2, 300).Draw(t, "ranks")
		rank := rapid.IntRange(0, ranks-1)
		seen := map[[2]int]bool{}
		var amounts []Amount
		total := int64(0)
		for range rapid.IntRange(1, 50).Draw(t, "cells") {
			c := Amount{rank.Draw(t, "from"), rank.Draw(t, "to"), rapid.Int64Range(1, 1<<40).Draw(t, "bytes")}
			if !seen[[2]int{c.From, c.To}] {
				seen[[2]int{c.From, c.To}] = true
				amounts = append(amounts, c)
				total += c.Bytes
			}
		}
		sum := int64(0)
		reading := regexp.MustCompile(`^ranks? \d+(?:–\d+)? (?:→ ranks? \d+(?:–\d+)?|to itself): (\d+)B$`)
		chart := TrafficMap("m", ranks, amounts, ExtentOf(ranks, amounts), bytesOf)
		for _, c := range chart.Cells {
			m := reading.FindStringSubmatch(c.Says)
			if m == nil || c.Row >= len(chart.Rows) || c.Column >= len(chart.Columns) || c.Heat < 0 || c.Heat > 1 {
				t.Fatalf("cell %+v", c)
			}
			b, _ := strconv.ParseInt(m[1], 10, 64)
			sum += b
		}
		if sum != total || len(chart.Cells) != Drawn(ranks, amounts) || len(chart.Cells) > mostBlocks*mostBlocks {
			t.Fatalf("%d bytes in %d cells of %d bytes in %d", sum, len(chart.Cells), total, len(amounts))
		}
	})
}

// A thousand launches in a second are a few spans that say how many they are, and the one that failed
// is still there.
func TestMergedKeepsFailures(t *testing.T) {
	var all []Span
	for i := range 10_000 {
		s := Span{From: float64(i), To: float64(i) + 0.9, Says: fmt.Sprint("launch ", i)}
		if i == 5000 {
			s.Sign, s.Says = "✗", "launch 5000 failed"
		}
		all = append(all, s)
	}
	failed, count := 0, 0
	merged := Merged(all, func(n int) string { return fmt.Sprint(n, " launches") })
	for _, s := range merged {
		n := 1
		if _, err := fmt.Sscanf(s.Says, "%d launches", &n); err != nil {
			n = 1
		}
		count += n
		if s.Sign != "" {
			failed++
			if s.Says != "launch 5000 failed" {
				t.Errorf("the failure says %q", s.Says)
			}
		}
	}
	if len(merged) > 1100 || failed != 1 || count != 10_000 {
		t.Errorf("%d spans for %d launches, %d failed", len(merged), count, failed)
	}
}

// No text in a chart ends the JSON that the page carries, and its numbers are numbers only.
func TestDataIsJSONThatNothingEnds(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}))
	rapid.Check(t, func(t *rapid.T) {
		v := number.Draw(t, "end")
		says := rapid.OneOf(rapid.String(), rapid.Just("</script><b>")).Draw(t, "says")
		c := Chart{
			Kind: Lines, Name: says, Levels: []Level{{says, number.Draw(t, "level")}}, Marks: []Tick{{v, says}},
			Series: []Series{{Name: says, Points: []Point{{
				X: number.Draw(t, "x"), Y: number.Draw(t, "y"), CI: &[2]float64{v, number.Draw(t, "high")}, Lower: &v,
				Upper: &v, Ceiling: &v, Launches: []float64{v, 1}, Says: []string{says},
			}}}},
			Spans: []Span{{From: v, To: v, Says: says}}, Cells: []Cell{{Heat: v, Says: says}},
		}
		data, err := c.Data()
		if err != nil {
			t.Fatal(err)
		}
		text, ok := strings.CutPrefix(string(data), `<script type="application/json">`)
		text, closed := strings.CutSuffix(text, "</script>")
		if !ok || !closed || strings.ContainsAny(text, "<>") {
			t.Fatalf("%s", data)
		}
		var back Chart
		if err := json.Unmarshal([]byte(text), &back); err != nil {
			t.Fatal(err)
		}
	})
}
