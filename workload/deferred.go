package workload

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"weir/placeholder"
	"weir/quantity"
)

// Deferred is the value of a numeric option that follows from runs which are decided before its
// launch: a text of package placeholder, whose names are expressions over
// run("NAME", CONDITION).METRIC.
type Deferred string

// OfRuns says whether a name in a text of package placeholder, or a part of such a text, is an
// expression over values of runs. No other name has a quote in it.
func OfRuns(name string) bool { return strings.Contains(name, `run("`) }

// NamesOfRuns are those among names that are such expressions, each once.
func NamesOfRuns(names []string) []string {
	all := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !OfRuns(name) })
	slices.Sort(all)
	return slices.Compact(all)
}

// MayDefer says whether values of an option may be Deferred: those of numbers may that are of a
// case alone, and neither fixed when processes start nor part of a sequence.
func (k *Kind) MayDefer(o Option) bool {
	return o.Type.Numeric() && !o.Process && k.Sequence == "" && !slices.Contains(k.RanksOptions(), o.Name)
}

// MayBe says why no number makes a deferred value one of the option, as where its unit is missing.
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
	return fmt.Errorf("with 1 for what is not known yet: %w", err)
}

// deferred reads a value from JSON: no number of an option has ${ in its text.
func (k *Kind) deferred(o Option, text string) (Deferred, bool) {
	if !k.MayDefer(o) || !strings.Contains(text, "${") {
		return "", false
	}
	_, err := placeholder.Names(text)
	return Deferred(text), err == nil
}

// DeferredNames are the names in deferred values, each once.
func (v Values) DeferredNames() []string {
	var all []string
	for _, value := range v {
		if text, ok := value.(Deferred); ok {
			names, _ := placeholder.Names(string(text)) // which was read as one
			all = append(all, names...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Plain are the values as documents have them: deferred ones are texts.
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

// Settle gives deferred values the numbers that they stand for. known are the values of names.
func (k *Kind) Settle(v Values, known map[string]string) (Values, error) {
	out := maps.Clone(v)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		deferred, ok := v[name].(Deferred)
		if !ok {
			continue
		}
		text, err := placeholder.Expand(string(deferred), func(name string) (string, error) {
			if value, ok := known[name]; ok {
				return value, nil
			}
			return "", fmt.Errorf("it is not known yet")
		})
		if err != nil {
			return nil, fmt.Errorf("option %s: %w", name, err)
		}
		o, _ := k.Option(name)
		out[name], err = o.Parse(text)
		if n, ok := Number(out[name]); ok && n == 0 && err == nil {
			if usual, ok := Number(o.Default); ok && usual == 0 {
				err = errors.New("it is 0, as if it were not given")
			}
		}
		if err != nil {
			hint := ""
			if n, isNumber := strconv.ParseFloat(text, 64); o.Type == Count && isNumber == nil && n != math.Trunc(n) {
				hint = "; floor(…) or ceil(…) makes it one"
			}
			return nil, fmt.Errorf("option %s, which is %s: %w%s", name, deferred, err, hint)
		}
	}
	return out, nil
}

// guesses is how many values Assume has for what is not known yet.
const guesses = 3

// Assume tries what is computed of a case with values that its deferred options might have, until
// there is no error. Without deferred options it tries once.
func (k *Kind) Assume(v Values, try func(Values) error) (err error) {
	if len(v.DeferredNames()) == 0 {
		return try(v)
	}
	for n := range guesses {
		assumed := maps.Clone(v)
		for name, value := range v {
			if _, ok := value.(Deferred); ok {
				o, _ := k.Option(name)
				assumed[name] = o.guess(n)
			}
		}
		if err = try(assumed); err == nil {
			return nil
		}
	}
	return err
}

// guess is the default if it is above 0, a large number, or a small one.
func (o Option) guess(n int) any {
	if usual, ok := Number(o.Default); n == 0 && ok && usual > 0 {
		return o.Default
	}
	small := n == guesses-1
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

// within is n, or the bound of the option that is next to it.
func (o Option) within(n int64) int64 {
	if o.Max != 0 {
		n = min(n, o.Max)
	}
	return max(n, o.Min)
}
