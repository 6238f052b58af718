package html

import "strings"

// strokes are lines and dots of one look, which are one element of a drawing however many
// they are. They are placed by a value and by where that value's axis is left: across.
type strokes struct {
	d       strings.Builder
	values  span
	upright bool // the axis of values runs upwards, otherwise to the right
}

func (k *strokes) line(value1, across1, value2, across2 float64) {
	if k.upright {
		value1, across1, value2, across2 = across1, value1, across2, value2
	}
	k.d.WriteString("M" + px(value1) + " " + px(across1) + "L" + px(value2) + " " + px(across2))
}

// mark is a line across the axis at a value, if the axis has that.
func (k *strokes) mark(v *float64, from, to float64) {
	if v != nil && k.values.has(*v) {
		at := k.values.at(*v)
		k.line(at, from, at, to)
	}
}

// whisker is an interval; an end of it that lies outside of the axis is left open.
func (k *strokes) whisker(ci *[2]float64, across float64) {
	if ci == nil {
		return
	}
	k.line(k.values.clamp(ci[0]), across, k.values.clamp(ci[1]), across)
	k.mark(&ci[0], across-4, across+4)
	k.mark(&ci[1], across-4, across+4)
}

// dots are what launches measured, beside the estimate that rests on them.
func (k *strokes) dots(values []float64, across float64) {
	for _, v := range values {
		k.mark(&v, across, across)
	}
}

func (s *svg) strokes(k *strokes, attributes ...string) {
	if k.d.Len() > 0 {
		s.mark("path", append([]string{"d", k.d.String(), "fill", "none", "stroke", "currentColor"}, attributes...)...)
	}
}

// The looks of strokes, in strips and charts alike.
var (
	asWhisker = []string{"stroke-width", "1.4"}
	asDots    = []string{"stroke-width", "2.8", "stroke-linecap", "round", "stroke-opacity", "0.55"}
	asBound   = []string{"stroke-width", "1.3", "stroke-opacity", "0.7"}
	asCeiling = []string{"stroke-width", "1.5", "stroke-dasharray", "5 3", "class", "ceiling"}
	asBand    = []string{"class", "band", "fill", "currentColor", "fill-opacity", "0.13"}
)
