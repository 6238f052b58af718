package workload

import (
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

// MayDefer says whether values of an option of this kind may be Deferred: numbers may, but those
// that say how many ranks there are.
func (k *Kind) MayDefer(o Option) bool {
	return o.Type.Numeric() && !slices.Contains(k.RanksOptions(), o.Name)
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
	return err
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
		if out[name], err = o.Parse(text); err != nil {
			hint := ""
			if n, isNumber := strconv.ParseFloat(text, 64); o.Type == Count && isNumber == nil && n != math.Trunc(n) {
				hint = "; floor(…) or ceil(…) makes it one"
			}
			return nil, fmt.Errorf("option %s, which is %s: %w%s", name, deferred, err, hint)
		}
	}
	return out, nil
}

// standIn is a value that an option might have, for what is checked before its value is known.
func (o Option) standIn() any {
	n := max(1, o.Min)
	switch o.Type {
	case Size:
		return quantity.Size(max(64<<10, o.Min))
	case Time:
		return quantity.Time(o.within(1e9))
	case Rate:
		return quantity.Rate(o.within(1e9))
	case Frequency:
		return quantity.PerSecond(n)
	case Percent:
		return quantity.Percent(float64(o.within(50)) / 100)
	case Factor:
		return Scale(1)
	}
	return n
}

// within is n, or the bound of the option that is next to it.
func (o Option) within(n int64) int64 {
	if o.Max != 0 {
		n = min(n, o.Max)
	}
	return max(n, o.Min)
}
