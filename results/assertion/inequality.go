package assertion

import "github.com/weir-bench/weir/internal/lazyregexp"

// Intervals of Lowered with one bound.
var (
	atMost  = lazyregexp.New(` in \(-∞, ([^,\])]+)\]`)
	below   = lazyregexp.New(` in \(-∞, ([^,\])]+)\)`)
	atLeast = lazyregexp.New(` in \[([^,]+), ∞\)`)
	above   = lazyregexp.New(` in \(([^,]+), ∞\)`)
)

// Inequality is Lowered for people: an interval with one bound is an inequality, as in "bandwidth >= 40 GB/s".
func (a Assertion) Inequality() string {
	s := atMost().ReplaceAllString(a.Lowered, " <= $1")
	s = below().ReplaceAllString(s, " < $1")
	s = atLeast().ReplaceAllString(s, " >= $1")
	return above().ReplaceAllString(s, " > $1")
}
