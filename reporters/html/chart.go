package html

import (
	"bytes"
	"encoding/json"
	"html/template"
	"math"
	"slices"
)

// Chart is plain data that the page carries as JSON and its script passes to the chart library. Texts are
// final. Kind determines which fields are used.
type Chart struct {
	Kind   Kind     `json:"kind"`
	Name   string   `json:"name"` // accessible description
	Title  string   `json:"title,omitempty"`
	X      Axis     `json:"x,omitzero"`
	Y      Axis     `json:"y,omitzero"`
	Series []Series `json:"series,omitempty"`
	// Interval names the whiskers, such as "96% interval"; "": there are none.
	Interval string `json:"interval,omitempty"`
	// Band names the bands; "": asserted bounds.
	Band string `json:"band,omitempty"`
	// Levels are horizontal lines, such as the nominal bandwidth of a link.
	Levels []Level `json:"levels,omitempty"`
	// Marks are named positions on the X axis.
	Marks []Tick `json:"marks,omitempty"`
	// Rows are names of rows; Columns are those of a heat map.
	Rows    []string `json:"rows,omitempty"`
	Columns []string `json:"columns,omitempty"`
	Cells   []Cell   `json:"cells,omitempty"`
	Least   string   `json:"least,omitempty"` // meaning of the lightest colour of a heat map
	Most    string   `json:"most,omitempty"`  // and of the darkest
	Spans   []Span   `json:"spans,omitempty"`
}

// Kind is a kind of chart.
type Kind string

// The kinds of charts.
const (
	Lines Kind = "lines" // series of points over an axis of numbers
	Bars  Kind = "rows"  // estimates in rows, with names in Rows; X is the row
	Heat  Kind = "heat"  // cells in rows and columns
	Spans Kind = "spans" // what took from one time to another, in Rows
)

// MostSeries is how many series of a chart can be distinguished, each by a colour and a symbol.
const MostSeries = 8

// Tick is a labelled position on an axis.
type Tick struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
}

// Axis is one direction of a chart.
type Axis struct {
	Name string `json:"name,omitempty"`
	Log  bool   `json:"log,omitzero"`  // logarithmic unless the reader switches
	Unit string `json:"unit,omitzero"` // "s": labels are times with their units; "%": shares
	// Signed are values around zero, such as changes: their intervals are shown whole.
	Signed bool `json:"signed,omitzero"`
	// Ticks are all labelled positions; nil: round numbers.
	Ticks []Tick `json:"ticks,omitempty"`
}

// Series are points that belong together, ascending in X.
type Series struct {
	Name  string `json:"name"`
	Style Style  `json:"look,omitempty"`
	// Of is a series with the same colour, such as the variant of a baseline; "": none.
	Of     string  `json:"of,omitempty"`
	Points []Point `json:"points"`
}

// Style is how a series is drawn.
type Style string

// The styles of series; "" joins points by lines.
const (
	Dashed Style = "dashed" // what was measured another time
	Steps  Style = "steps"  // each value holds until the next point
	Filled Style = "filled" // steps with what is below them
	Loose  Style = "loose"  // points without lines
)

// Point is one estimate on a chart.
type Point struct {
	X  float64     `json:"x"`
	Y  float64     `json:"y"`
	CI *[2]float64 `json:"ci,omitempty"` // nil: unknown
	// bounds of the point; nil: open
	Lower *float64 `json:"lower,omitempty"`
	Upper *float64 `json:"upper,omitempty"`
	// Ceiling is the probed ceiling; nil: none.
	Ceiling  *float64  `json:"ceiling,omitempty"`
	Launches []float64 `json:"launches,omitempty"` // values behind the estimate
	Sign     string    `json:"sign,omitempty"`     // symbol of a notable verdict
	Says     []string  `json:"says,omitempty"`     // tooltip, by line
}

// Level is a value with a name.
type Level struct {
	Name string  `json:"name"`
	At   float64 `json:"at"`
}

// Cell is one cell of a heat map. Heat is from 0 to 1.
type Cell struct {
	Row    int     `json:"r"`
	Column int     `json:"c"`
	Heat   float64 `json:"h"`
	Own    bool    `json:"own,omitzero"` // of a rank with itself
	Says   string  `json:"says"`
}

// Span is a time range in seconds; one without length is an instant.
type Span struct {
	Row   int     `json:"r"`
	From  float64 `json:"a"`
	To    float64 `json:"b"`
	Group string  `json:"g,omitempty"` // legend entry of its colour
	// Depth and Of place the span in the Depth-th of Of parts of its row, from the top; Of 0: all of it.
	Depth int    `json:"d,omitzero"`
	Of    int    `json:"of,omitzero"`
	Sign  string `json:"sign,omitempty"` // of failures; ""
	Says  string `json:"says"`
}

// spread is the ratio of the largest to the smallest value from which a linear axis hides the small ones.
const spread = 20

// Wide reports whether values need a logarithmic axis.
func Wide(values []float64) bool {
	return len(values) > 0 && slices.Min(values) > 0 && slices.Max(values) >= spread*slices.Min(values)
}

// Data is the chart as JSON for the page, safe inside a script element, without numbers that an axis
// cannot show.
func (c Chart) Data() (template.HTML, error) {
	c.clean()
	var b bytes.Buffer
	b.WriteString(`<script type="application/json">`)
	encoder := json.NewEncoder(&b) // escapes < and >
	if err := encoder.Encode(c); err != nil {
		return "", err
	}
	b.WriteString("</script>")
	return template.HTML(b.String()), nil
}

// finite reports whether JSON can represent a number.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// clean removes non-finite numbers, as in damaged documents.
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
