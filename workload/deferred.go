package workload

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/placeholder"
)

// MayDefer reports whether values of an option may be Deferred: numbers that belong to a single case, and are neither
// fixed when processes start nor part of a sequence.
func (k *Kind) MayDefer(o option.Option) bool {
	return o.Type.Numeric() && !o.Process && k.Sequence == "" && !slices.Contains(k.RanksOptions(), o.Name)
}

// deferred reads a deferred value from a text of JSON, which contains ${.
func (k *Kind) deferred(o option.Option, text string) (option.Deferred, bool) {
	if !k.MayDefer(o) || !strings.Contains(text, "${") {
		return "", false
	}
	_, err := placeholder.Names(text)
	return option.Deferred(text), err == nil
}

// Resolve replaces deferred values by their numbers. known are the values of names.
func (k *Kind) Resolve(v option.Values, known map[string]string) (option.Values, error) {
	out := maps.Clone(v)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		deferred, ok := v[name].(option.Deferred)
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
		if n, ok := option.Number(out[name]); ok && n == 0 && err == nil {
			if usual, ok := option.Number(o.Default); ok && usual == 0 {
				err = errors.New("it is 0, as if it were not given")
			}
		}
		if err != nil {
			hint := ""
			if n, bad := strconv.ParseFloat(text, 64); o.Type == option.Count && bad == nil && n != math.Trunc(n) {
				hint = "; floor(…) or ceil(…) makes it one"
			}
			return nil, fmt.Errorf("option %s, which is %s: %w%s", name, deferred, err, hint)
		}
	}
	return out, nil
}

// Assume calls try with guesses for the deferred options of a case until there is no error. Without deferred options
// it calls try once.
func (k *Kind) Assume(v option.Values, try func(option.Values) error) (err error) {
	if len(v.DeferredNames()) == 0 {
		return try(v)
	}
	for n := range option.Guesses {
		assumed := maps.Clone(v)
		for name, value := range v {
			if _, ok := value.(option.Deferred); ok {
				o, _ := k.Option(name)
				assumed[name] = o.Guess(n)
			}
		}
		if err = try(assumed); err == nil {
			return nil
		}
	}
	return err
}
