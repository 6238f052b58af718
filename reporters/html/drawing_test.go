package html

import (
	"fmt"
	"html/template"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// shapes are the elements of a drawing with their attributes and texts.
type shape struct {
	name  string
	at    map[string]string
	title string
	text  string
}

func shapes(t interface{ Fatal(...any) }, drawing template.HTML) []shape {
	root, err := html.Parse(strings.NewReader(string(drawing)))
	if err != nil {
		t.Fatal(err)
	}
	var out []shape
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Namespace != "svg" {
			continue
		}
		s := shape{name: n.Data, at: map[string]string{}}
		for _, a := range n.Attr {
			s.at[a.Key] = a.Val
		}
		for c := range n.ChildNodes() {
			switch {
			case c.Type == html.TextNode:
				s.text += c.Data
			case c.Data == "title" && c.FirstChild != nil:
				s.title = c.FirstChild.Data
			}
		}
		out = append(out, s)
	}
	return out
}

func (s shape) number(name string) float64 {
	v, err := strconv.ParseFloat(s.at[name], 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func bytesOf(b int64) string { return fmt.Sprint(b, "B") }

// A heat map has a cell where something is sent and none elsewhere: row is sender, column receiver,
// and more bytes are a darker step.
func TestHeatMapCells(t *testing.T) {
	cells := map[string]shape{}
	for _, s := range shapes(t, HeatMap("m", 3, []Cell{{0, 1, 1}, {0, 2, 1 << 20}, {1, 1, 1 << 10}, {2, 1, 1 << 10}},
		Extent{1, 1 << 20}, bytesOf)) {
		if s.title != "" {
			cells[s.title] = s
		}
	}
	if len(cells) != 4 || cells["rank 1 to itself: 1024B"].at["class"] != "pt cell h3" {
		t.Fatalf("%d cells", len(cells))
	}
	small, large, middle := cells["rank 0 → rank 1: 1B"], cells["rank 0 → rank 2: 1048576B"],
		cells["rank 2 → rank 1: 1024B"]
	if small.at["class"] != "pt cell h0" || large.at["class"] != "pt cell h6" || middle.at["class"] != "pt cell h3" {
		t.Errorf("steps %q %q %q: the scale is logarithmic", small.at["class"], middle.at["class"], large.at["class"])
	}
	side := small.number("width")
	if dx := large.number("x") - small.number("x"); dx != side || large.number("y") != small.number("y") {
		t.Error("a receiver further right is not the next column")
	}
	if dy := middle.number("y") - small.number("y"); dy != 2*side || middle.number("x") != small.number("x") {
		t.Error("a sender further down is not the row below")
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
		var cells []Cell
		total := int64(0)
		for range rapid.IntRange(1, 50).Draw(t, "cells") {
			c := Cell{rank.Draw(t, "from"), rank.Draw(t, "to"), rapid.Int64Range(1, 1<<40).Draw(t, "bytes")}
			if !seen[[2]int{c.From, c.To}] {
				seen[[2]int{c.From, c.To}] = true
				cells = append(cells, c)
				total += c.Bytes
			}
		}
		drawn, sum := 0, int64(0)
		reading := regexp.MustCompile(`^ranks? \d+(?:–\d+)? (?:→ ranks? \d+(?:–\d+)?|to itself): (\d+)B$`)
		for _, s := range shapes(t, HeatMap("m", ranks, cells, ExtentOf(ranks, cells), bytesOf)) {
			if s.title == "" {
				continue
			}
			drawn++
			m := reading.FindStringSubmatch(s.title)
			if m == nil {
				t.Fatalf("a cell says %q", s.title)
			}
			b, _ := strconv.ParseInt(m[1], 10, 64)
			sum += b
		}
		if sum != total || drawn != Drawn(ranks, cells) || drawn > mostBlocks*mostBlocks {
			t.Fatalf("%d bytes in %d cells of %d bytes in %d", sum, drawn, total, len(cells))
		}
	})
}

// A thousand launches in a second are a few bars that say how many they are, and the one that failed
// is still there.
func TestTimelineMergesAndKeepsFailures(t *testing.T) {
	lane := Lane{Name: "run"}
	for i := range 10_000 {
		s := Stretch{From: float64(i), To: float64(i) + 0.9, Says: fmt.Sprint("launch ", i)}
		if i == 5000 {
			s.Sign, s.Says = "✗", "launch 5000 failed"
		}
		lane.Stretches = append(lane.Stretches, s)
	}
	bars, failed, count := 0, 0, 0
	for _, s := range shapes(t, Timeline("t", []Lane{lane}, func(v float64) string { return fmt.Sprint(v) },
		func(n int) string { return fmt.Sprint(n, " launches") })) {
		if s.name != "rect" {
			continue
		}
		bars++
		n := 1
		if _, err := fmt.Sscanf(s.title, "%d launches", &n); err != nil {
			n = 1
		}
		count += n
		if strings.Contains(s.at["class"], "bad") {
			failed++
			if s.title != "launch 5000 failed" {
				t.Errorf("the failure says %q", s.title)
			}
		}
	}
	if bars > 1000 || failed != 1 || count != 10_000 {
		t.Errorf("%d bars for %d launches, %d failed", bars, count, failed)
	}
}

// Round numbers are ascending, within the axis, no more than can be read, and there are at least
// two wherever there is room.
func TestRoundTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(1e-9, 1e9).Draw(t, "low")
		high := low * rapid.Float64Range(1.5, 1e8).Draw(t, "times")
		for _, log := range []bool{false, true} {
			ticks := roundTicks(low, high, log)
			if len(ticks) > 12 || len(ticks) < 2 && !(log && high/low < 12) {
				t.Fatalf("%v to %v, log %v: %v", low, high, log, ticks)
			}
			for i, v := range ticks {
				if v < low*(1-1e-9) || v > high*(1+1e-9) || i > 0 && v <= ticks[i-1] {
					t.Fatalf("%v to %v, log %v: %v", low, high, log, ticks)
				}
			}
		}
	})
	if got := fmt.Sprint(roundTicks(0, 103, false)); got != "[0 20 40 60 80 100]" {
		t.Error(got)
	}
	if got := fmt.Sprint(roundTicks(0.9, 1200, true)); got != "[1 10 100 1000]" {
		t.Error(got)
	}
}

func at(v float64) *float64 { return &v }

// The target band of all series alike is drawn once, whole; bands of their own are
// shaded from their ends only.
func TestBands(t *testing.T) {
	band := func(lower ...float64) (whole, edges int) {
		var series []Series
		for _, l := range lower {
			series = append(series, Series{Points: []Point{{X: 1, Y: 10, Lower: at(l)}, {X: 2, Y: 20, Lower: at(l)}}})
		}
		drawings := Panels("c", Axis{Ticks: []Tick{{1, "1"}, {2, "2"}}},
			Axis{Label: func(v float64) string { return fmt.Sprint(v) }}, []Panel{{Series: series}})
		for _, s := range shapes(t, drawings[0]) {
			if s.at["class"] == "band" {
				if s.number("height") > edged {
					whole++
				} else {
					edges++
				}
			}
		}
		return whole, edges
	}
	if whole, edges := band(5, 5); whole != 2 || edges != 0 {
		t.Errorf("a common band is drawn %d times whole, %d times at its edge", whole, edges)
	}
	if whole, edges := band(5, 8); whole != 0 || edges != 4 {
		t.Errorf("two bands are drawn %d times whole, %d times at their edges", whole, edges)
	}
}

// An interval that reaches further than the chart leaves the points their room and has no end in it.
func TestWideIntervalsDoNotFlattenAChart(t *testing.T) {
	p := Point{X: 1, Y: 10, CI: &[2]float64{0.001, 1e6}, Says: "wide"}
	q := Point{X: 2, Y: 11, CI: &[2]float64{10.5, 11.5}, Says: "narrow"}
	drawings := Panels("c", Axis{Ticks: []Tick{{1, "1"}, {2, "2"}}},
		Axis{Label: func(v float64) string { return fmt.Sprint(v) }},
		[]Panel{{Series: []Series{{Points: []Point{p, q}}}}})
	var ys []float64
	for _, s := range shapes(t, drawings[0]) {
		if s.title != "" {
			ys = append(ys, s.number("cy"))
		}
	}
	if len(ys) != 2 || ys[0]-ys[1] < 10 {
		t.Errorf("points at %v", ys)
	}
}

// Whatever values there are, everything lies within the drawing and no number is NaN.
func TestDrawingsStayWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(-1e3, 1e12)
		log := rapid.Bool().Draw(t, "log")
		if log {
			value = rapid.Float64Range(1e-12, 1e12)
		}
		maybe := func(name string) *float64 {
			if rapid.Bool().Draw(t, "has "+name) {
				return at(value.Draw(t, name))
			}
			return nil
		}
		var points []Point
		var bars []Bar
		for i := range rapid.IntRange(1, 6).Draw(t, "points") {
			p := Point{
				X: float64(i), Y: value.Draw(t, "y"), Lower: maybe("lower"), Upper: maybe("upper"),
				Ceiling: maybe("ceiling"), Says: "x", Sign: "✗",
			}
			if a, b := maybe("low"), maybe("high"); a != nil && b != nil {
				p.CI = &[2]float64{min(*a, *b), max(*a, *b)}
			}
			points = append(points, p)
			bars = append(bars, Bar{"name", p})
		}
		y := Axis{Log: log, Label: func(v float64) string { return fmt.Sprint(v) }}
		drawings := Panels("c", Axis{Label: y.Label}, y, []Panel{{Series: []Series{{"a", points}, {"b", points}}}})
		for _, d := range append(drawings, Strip("s", y, bars)) {
			all := shapes(t, d)
			box := strings.Fields(all[0].at["viewBox"])
			width, _ := strconv.ParseFloat(box[2], 64)
			height, _ := strconv.ParseFloat(box[3], 64)
			for _, s := range all {
				for name, limit := range map[string]float64{
					"x": width, "cx": width, "x1": width, "x2": width, "y": height, "cy": height, "y1": height,
					"y2": height,
				} {
					if text, ok := s.at[name]; ok {
						if v := s.number(name); math.IsNaN(v) || v < 0 || v > limit {
							t.Fatalf("<%s %s=%q> in %v", s.name, name, text, box)
						}
					}
				}
				if strings.Contains(s.at["d"], "NaN") || strings.Contains(s.at["d"], "Inf") {
					t.Fatalf("path %s", s.at["d"])
				}
			}
		}
	})
}
