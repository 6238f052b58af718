package html

import (
	"bytes"
	"encoding/json"
	"html/template"
	"math"
	"slices"
)

// Chart is what a drawing shows: plain data, which the page carries as JSON and its script
// gives to the chart library. Texts are finished. Kind says which of the others are used.
type Chart struct {
	Kind   Kind     `json:"kind"`
	Name   string   `json:"name"` // what it shows, for who does not see it
	Title  string   `json:"title,omitempty"`
	X      Axis     `json:"x,omitzero"`
	Y      Axis     `json:"y,omitzero"`
	Series []Series `json:"series,omitempty"`
	// Interval is what whiskers are, as "96% interval"; "": there are none.
	Interval string `json:"interval,omitempty"`
	// Band is what bands are; "": what was asserted.
	Band string `json:"band,omitempty"`
	// Levels are values that lie across the chart, as the nominal bandwidth of a link.
	Levels []Level `json:"levels,omitempty"`
	// Marks are places on the X axis that have a name.
	Marks []Tick `json:"marks,omitempty"`
	// Rows are the names of what lies one below the other; Columns are those of a heat map.
	Rows    []string `json:"rows,omitempty"`
	Columns []string `json:"columns,omitempty"`
	Cells   []Cell   `json:"cells,omitempty"`
	Least   string   `json:"least,omitempty"` // what the lightest colour of a heat map is
	Most    string   `json:"most,omitempty"`  // and the darkest
	Spans   []Span   `json:"spans,omitempty"`
}

// Kind is a kind of chart.
type Kind string

// The kinds of charts.
const (
	Lines Kind = "lines" // series of points over an axis of numbers
	Bars  Kind = "rows"  // estimates one below the other, each with its name in Rows; their X is the row
	Heat  Kind = "heat"  // cells in rows and columns
	Spans Kind = "spans" // what took from one time to another, in Rows
)

// MostSeries is how many series of a chart can be told apart: colours with two kinds of lines.
const MostSeries = 12

// Tick is a place on an axis that has a label.
type Tick struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
}

// Axis is one direction of a chart.
type Axis struct {
	Name string `json:"name,omitempty"`
	Log  bool   `json:"log,omitzero"`  // it is logarithmic until the reader wants it linear
	Unit string `json:"unit,omitzero"` // "s": labels are times with their units; "%": shares
	// Ticks are all places that have labels; nil: round numbers.
	Ticks []Tick `json:"ticks,omitempty"`
}

// Series are points that belong together, ascending in X.
type Series struct {
	Name string `json:"name"`
	Look Look   `json:"look,omitempty"`
	// Of is the series whose colour this one has, as its baseline does; "": it has its own.
	Of     string  `json:"of,omitempty"`
	Points []Point `json:"points"`
}

// Look is how a series is drawn.
type Look string

// The looks of series besides points joined by lines, which is "".
const (
	Dashed Look = "dashed" // what was measured another time
	Steps  Look = "steps"  // each value holds until the next point
	Filled Look = "filled" // steps with what is below them
	Loose  Look = "loose"  // points that nothing joins
)

// Point is one estimate on a chart.
type Point struct {
	X  float64     `json:"x"`
	Y  float64     `json:"y"`
	CI *[2]float64 `json:"ci,omitempty"` // nil: not known
	// ends of the band that it must lie in; nil: open
	Lower *float64 `json:"lower,omitempty"`
	Upper *float64 `json:"upper,omitempty"`
	// Ceiling is what bounds it; nil: none.
	Ceiling  *float64  `json:"ceiling,omitempty"`
	Launches []float64 `json:"launches,omitempty"` // what the estimate rests on
	Sign     string    `json:"sign,omitempty"`     // beside the point: its verdict, if that is worth a look
	Says     []string  `json:"says,omitempty"`     // all of it in words, a line each
}

// Level is a value with a name.
type Level struct {
	Name string  `json:"name"`
	At   float64 `json:"at"`
}

// Cell is one of a heat map. Heat is from 0 to 1.
type Cell struct {
	Row    int     `json:"r"`
	Column int     `json:"c"`
	Heat   float64 `json:"h"`
	Own    bool    `json:"own,omitzero"` // of a rank with itself
	Says   string  `json:"says"`
}

// Span is something that took from one time to another, in seconds; one without length is an
// instant.
type Span struct {
	Row   int     `json:"r"`
	From  float64 `json:"a"`
	To    float64 `json:"b"`
	Group string  `json:"g,omitempty"` // what the legend calls its colour
	// Depth and Of say which of so many parts of its row it takes, from the top; Of 0: all.
	Depth int    `json:"d,omitzero"`
	Of    int    `json:"of,omitzero"`
	Sign  string `json:"sign,omitempty"` // of what went wrong; "": nothing did
	Says  string `json:"says"`
}

// spread is how many times the least value the largest is, from where on a linear
// axis would show the small ones as nothing.
const spread = 20

// Wide says whether values are better shown on a logarithmic axis.
func Wide(values []float64) bool {
	return len(values) > 0 && slices.Min(values) > 0 && slices.Max(values) >= spread*slices.Min(values)
}

// Data is the chart as the page carries it: JSON that no text in it can end. Numbers that
// no axis has a place for are left out.
func (c Chart) Data() (template.HTML, error) {
	c.clean()
	var b bytes.Buffer
	b.WriteString(`<script type="application/json">`)
	encoder := json.NewEncoder(&b) // writes < and > as escapes
	if err := encoder.Encode(c); err != nil {
		return "", err
	}
	b.WriteString("</script>")
	return template.HTML(b.String()), nil
}

// finite says whether JSON has a number.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// clean takes out what only a damaged document has: numbers that are none.
func (c *Chart) clean() {
	end := func(v *float64) *float64 {
		if v == nil || !finite(*v) {
			return nil
		}
		return v
	}
	c.Series = slices.Clone(c.Series)
	for i := range c.Series {
		s := &c.Series[i]
		kept := make([]Point, 0, len(s.Points))
		for _, p := range s.Points {
			if !finite(p.X) || !finite(p.Y) {
				continue
			}
			p.Lower, p.Upper, p.Ceiling = end(p.Lower), end(p.Upper), end(p.Ceiling)
			if p.CI != nil && !(finite(p.CI[0]) && finite(p.CI[1])) {
				p.CI = nil
			}
			p.Launches = slices.DeleteFunc(slices.Clone(p.Launches), func(v float64) bool { return !finite(v) })
			kept = append(kept, p)
		}
		s.Points = kept
	}
	c.Levels = slices.DeleteFunc(slices.Clone(c.Levels), func(l Level) bool { return !finite(l.At) })
	c.Marks = slices.DeleteFunc(slices.Clone(c.Marks), func(t Tick) bool { return !finite(t.At) })
	c.Spans = slices.DeleteFunc(slices.Clone(c.Spans), func(s Span) bool { return !finite(s.From) || !finite(s.To) })
	c.Cells = slices.DeleteFunc(slices.Clone(c.Cells), func(l Cell) bool { return !finite(l.Heat) })
}
