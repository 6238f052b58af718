package html

import (
	"math"
	"slices"
	"unicode/utf8"
)

// Tick is a place on an axis that has a label.
type Tick struct {
	At    float64
	Label string
}

// Axis is one direction of a chart.
type Axis struct {
	Name string
	Log  bool
	// Ticks are all places that may have a label; nil: round numbers, labelled by Label.
	Ticks []Tick
	Label func(float64) string
}

// span is an axis on the drawing: values from low to high lie between two places.
type span struct {
	low, high float64
	from, to  float64
	log       bool
}

func (s span) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		low, high, v = math.Log(low), math.Log(high), math.Log(v)
	}
	if high == low {
		return (s.from + s.to) / 2
	}
	return s.from + (v-low)/(high-low)*(s.to-s.from)
}

// clamp is at, no further than the ends: for bands and whiskers, which may be open.
func (s span) clamp(v float64) float64 {
	if s.log && v <= 0 {
		return s.from
	}
	return min(max(s.at(v), min(s.from, s.to)), max(s.from, s.to))
}

func (s span) has(v float64) bool { return v >= s.low && v <= s.high }

// spread is how many times the least value the largest is, from where on a linear
// axis would show the small ones as nothing.
const spread = 20

// Wide says whether values are better shown on a logarithmic axis.
func Wide(values []float64) bool {
	return len(values) > 0 && slices.Min(values) > 0 && slices.Max(values) >= spread*slices.Min(values)
}

// domain is what a value axis shows: all of these values with some air, from zero
// where they are not all close together.
func domain(values []float64, log bool) (low, high float64) {
	if len(values) == 0 {
		return 0, 1
	}
	low, high = slices.Min(values), slices.Max(values)
	switch {
	case log:
		air := math.Pow(high/low, 0.06)
		if air < 1.2 {
			air = 1.2
		}
		return low / air, high * air
	case low == high && low == 0:
		return 0, 1
	case low > 0.7*high && low > 0 && low != high:
		air := 0.2 * (high - low)
		return max(low-air, 0), high + air
	case low > 0:
		return 0, high * 1.08
	}
	air := 0.08 * (high - low)
	if high <= 0 {
		return low - air, 0 + air
	}
	return min(low-air, 0), high + air
}

// roundTicks are some four to seven round numbers of a domain: 1, 2 or 5 times a power of
// ten; powers of ten where a logarithmic axis has many of them.
func roundTicks(low, high float64, log bool) []float64 {
	if log {
		return logTicks(low, high)
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/4)))
	for _, times := range []float64{5, 2} {
		if (high-low)/(step*times) >= 3.5 {
			step *= times
			break
		}
	}
	var out []float64
	for k := math.Ceil(low/step - 1e-9); k*step <= high*(1+1e-12)+step*1e-9 && len(out) < 20; k++ {
		out = append(out, k*step+0) // of -0 it makes 0
	}
	return out
}

func logTicks(low, high float64) []float64 {
	decades := math.Log10(high / low)
	factors := []float64{1}
	switch {
	case decades < 1.2:
		factors = []float64{1, 1.5, 2, 3, 5, 7}
	case decades < 3:
		factors = []float64{1, 2, 5}
	}
	every := max(1, int(math.Ceil(decades/7)))
	var out []float64
	first := int(math.Floor(math.Log10(low)))
	for e := first; float64(e) <= math.Log10(high) && len(out) < 40; e++ {
		for _, f := range factors {
			if v := f * math.Pow(10, float64(e)); v >= low && v <= high && (len(factors) > 1 || (e-first)%every == 0) {
				out = append(out, v)
			}
		}
	}
	return out
}

// Width is how many units a text takes at the size of labels, more rather than less.
func textWidth(s string) float64 { return 7 * float64(utf8.RuneCountInString(s)) }

// apart keeps of ticks in ascending order those whose labels leave each other room,
// the last always.
func apart(ticks []Tick, s span) []Tick {
	var kept []Tick
	for i := len(ticks) - 1; i >= 0; i-- {
		t := ticks[i]
		if n := len(kept); n > 0 {
			next := kept[n-1]
			if math.Abs(s.at(next.At)-s.at(t.At)) < (textWidth(next.Label)+textWidth(t.Label))/2+10 {
				continue
			}
		}
		kept = append(kept, t)
	}
	slices.Reverse(kept)
	return kept
}

// shorten cuts a label that has no room.
func shorten(s string, runes int) string {
	if utf8.RuneCountInString(s) <= runes {
		return s
	}
	return string([]rune(s)[:runes-1]) + "…"
}
