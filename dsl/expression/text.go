package expression

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// String formats the subject with numeric bounds: "bandwidth in [41.832, 51.128] GB/s". A bound that is outside has a
// round bracket.
func (b band) String() string {
	open, closed := "[", "]"
	if b.bounds.Strict {
		open, closed = "(", ")"
	}
	scale, unit := 1.0, b.unit
	if unit == "s" {
		scale, unit = timeScale(b.bounds)
	}
	text := b.subject.String() + " in "
	if b.bounds.Lower == nil {
		text += "(-∞, "
	} else {
		text += open + number(quantity.Round(*b.bounds.Lower/scale)) + ", "
	}
	if b.bounds.Upper == nil {
		text += "∞)"
	} else {
		text += number(quantity.Round(*b.bounds.Upper/scale)) + closed
	}
	if unit != "" {
		text += " " + unit
	}
	return text
}

// ofOwnCase omits the key of the case.
func (b band) ofOwnCase(key string) band {
	b.subject = unkeyed(b.subject, key)
	return b
}

func unkeyed(e *assertion.Expr, key string) *assertion.Expr {
	out := *e
	if out.Case == key {
		out.Case = ""
	}
	out.Args = nil
	for _, a := range e.Args {
		out.Args = append(out.Args, unkeyed(a, key))
	}
	return &out
}

// quantifiedText describes the relations of every case. texts are those of the last case; alike
// says that all cases have the same.
func quantifiedText(a *assertion.Assertion, texts []string, alike bool, cases int) string {
	head := fmt.Sprintf("%s of %d cases: ", a.Quantifier, cases)
	if cases == 1 {
		head = a.Quantifier + " of 1 case: "
	}
	if alike {
		return head + strings.Join(texts, "; ")
	}
	shown := a.Parts[:min(len(a.Parts), maxShown)]
	texts = nil
	for _, p := range shown {
		texts = append(texts, band{subject: p.Subject, unit: p.Unit, bounds: p.Bounds}.String())
	}
	if len(shown) < len(a.Parts) {
		texts = append(texts, fmt.Sprintf("… %d relations", len(a.Parts)))
	}
	return head + strings.Join(texts, "; ")
}

// timeScale returns the unit of time in which the larger bound is at least 1.
func timeScale(b assertion.Bounds) (float64, string) {
	var largest float64
	for _, v := range []*float64{b.Lower, b.Upper} {
		if v != nil {
			largest = max(largest, math.Abs(*v))
		}
	}
	switch {
	case largest >= 1 || largest == 0:
		return 1, "s"
	case largest >= 1e-3:
		return 1e-3, "ms"
	case largest >= 1e-6:
		return 1e-6, "µs"
	}
	return 1e-9, "ns"
}

func trendText(subject *assertion.Expr, t *assertion.Trend) string {
	text := subject.String() + " " + t.Direction + " with " + t.Axis
	if t.Tolerance > 0 {
		text += ", steps back of up to " + number(quantity.Round(t.Tolerance*100)) + "% allowed"
	}
	return text
}

func number(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e15) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
