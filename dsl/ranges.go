// Ranges of axis values, as 4KiB..64MiB x2.

package dsl

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// rangeSlack is the relative difference below which two values of a range are equal.
const rangeSlack = 1e-12

// expandRange returns the values of `a..b xN` (times N each) or `a..b +N` (plus N each), from a up
// to and including b if a step meets it. Each value is computed from a, so that errors do not add
// up.
func expandRange(text string) ([]string, error) {
	first, rest, _ := strings.Cut(text, "..")
	last, step, byFactor, err := cutStep(rest)
	if err != nil {
		return nil, err
	}
	a, err := quantity.Parse(first)
	if err != nil {
		return nil, fmt.Errorf("the first value: %w", err)
	}
	b, err := quantity.Parse(last)
	if err != nil {
		return nil, fmt.Errorf("the last value: %w", err)
	}
	n, err := quantity.Parse(step)
	if err != nil {
		return nil, fmt.Errorf("the step: %w", err)
	}
	switch {
	case a.Dim != b.Dim:
		return nil, fmt.Errorf("%s is a %s, but %s is a %s", first, a.Dim, last, b.Dim)
	case a.Value > b.Value:
		return nil, fmt.Errorf("%s is above %s: the range is empty", first, last)
	case byFactor && (n.Dim != quantity.Number || n.Value <= 1):
		return nil, fmt.Errorf("a factor is a plain number above 1, not %s", step)
	case byFactor && a.Value <= 0:
		return nil, fmt.Errorf("a range by factor begins above 0, not at %s", first)
	case !byFactor && n.Dim != a.Dim:
		return nil, fmt.Errorf("the step %s is a %s, but %s is a %s", step, n.Dim, first, a.Dim)
	case !byFactor && n.Value <= 0:
		return nil, fmt.Errorf("the step %s is not above 0", step)
	}
	// Binary fractions make the last step inexact, in proportion to the larger end: steps from -1
	// to 0 are off by as much as those from 0 to 1.
	slack := rangeSlack * max(math.Abs(a.Value), math.Abs(b.Value))
	var out []string
	for i := 0; ; i++ {
		v := a.Value + float64(i)*n.Value
		if byFactor {
			v = a.Value * math.Pow(n.Value, float64(i))
		}
		if v > b.Value+slack {
			return out, nil
		}
		if !byFactor && math.Abs(v) <= slack {
			v = 0
		}
		if len(out) == maxValues {
			return nil, fmt.Errorf("the range has more than %d values", maxValues)
		}
		out = append(out, rangeText(v, a))
	}
}

// cutStep splits `b xN` and `b +N`.
func cutStep(rest string) (last, step string, byFactor bool, err error) {
	if i := strings.LastIndexAny(rest, "x×*"); i > 0 {
		return strings.TrimSpace(rest[:i]), strings.TrimSpace(strings.TrimLeft(rest[i:], "x×*")), true, nil
	}
	// The plus of an exponent, as in 1e+3, follows an e.
	for i := len(rest) - 1; i > 0; i-- {
		if rest[i] == '+' && rest[i-1] != 'e' && rest[i-1] != 'E' {
			return strings.TrimSpace(rest[:i]), strings.TrimSpace(rest[i+1:]), false, nil
		}
	}
	return "", "", false, fmt.Errorf("%q has no step", ".."+rest)
}

// rangeText formats a value in the unit of the first; sizes in their canonical form.
func rangeText(v float64, first quantity.Quantity) string {
	if first.Dim == quantity.SizeDim && v == math.Trunc(v) && v < math.MaxInt64 {
		return quantity.Size(v).String()
	}
	q := quantity.Quantity{Value: v, Dim: first.Dim}
	n, err := q.In(first.Unit)
	if err != nil {
		n = v
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + first.Unit
}
