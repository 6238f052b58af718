package option

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/internal/quantity"
)

// Deferred is the value of a numeric option that follows from runs which are decided before its
// launch: a text of package placeholder with expressions over run("NAME", CONDITION).METRIC as
// names.
type Deferred string

// OfRuns reports whether a name in a text of package placeholder, or a part of such a text, is an
// expression over values of runs. No other name contains a quote.
func OfRuns(name string) bool { return strings.Contains(name, `run("`) }

// NamesOfRuns returns the distinct names that are such expressions.
func NamesOfRuns(names []string) []string {
	all := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !OfRuns(name) })
	slices.Sort(all)
	return slices.Compact(all)
}

// MayBe says why no number can make a deferred value valid, as if its unit is missing.
func (o Option) MayBe(text string) (err error) {
	for _, n := range []string{"10000", "100", "1"} {
		var whole string
		if whole, err = placeholder.Expand(text, func(string) (string, error) { return n, nil }); err == nil {
			_, err = o.Parse(whole)
		}
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("with 1 for the unknown values: %w", err)
}

// DeferredNames returns the distinct names in deferred values.
func (v Values) DeferredNames() []string {
	var all []string
	for _, value := range v {
		if text, ok := value.(Deferred); ok {
			names, _ := placeholder.Names(string(text)) // it was parsed before
			all = append(all, names...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Plain returns the values for documents: deferred ones are texts.
func (v Values) Plain() map[string]any {
	if len(v.DeferredNames()) == 0 {
		return v
	}
	out := maps.Clone(v)
	for name, value := range v {
		if text, ok := value.(Deferred); ok {
			out[name] = string(text)
		}
	}
	return out
}

// Guesses is the number of values that Assume tries for unknown options.
const Guesses = 3

// Guess returns the default if it is above 0, a large number, or a small one.
func (o Option) Guess(n int) any {
	if usual, ok := Number(o.Default); n == 0 && ok && usual > 0 {
		return o.Default
	}
	small := n == Guesses-1
	switch o.Type {
	case Size:
		return quantity.Size(o.within(pick(small, 1, 64<<10)))
	case Time:
		return quantity.Time(o.within(pick(small, 1e6, 1e9)))
	case Rate:
		return quantity.Rate(o.within(pick(small, 1e6, 1e9)))
	case Frequency:
		return quantity.PerSecond(o.within(pick(small, 1, 1000)))
	case Percent:
		return quantity.Percent(float64(o.within(pick(small, 1, 50))) / 100)
	case Factor:
		return Scale(1)
	}
	return o.within(pick(small, 1, 1024))
}

func pick(small bool, a, b int64) int64 {
	if small {
		return a
	}
	return b
}

// within clamps n to the bounds of the option.
func (o Option) within(n int64) int64 {
	if o.Max != 0 {
		n = min(n, o.Max)
	}
	return max(n, o.Min)
}
