package workload

import (
	"fmt"

	"github.com/weir-bench/weir/internal/option"
)

// Get returns a getter of the values of a case, with defaults for absent ones.
func (k *Kind) Get(v option.Values) option.Getter {
	var get option.Getter
	get = func(name string) any {
		if x, ok := v[name]; ok {
			return x
		}
		o, _ := k.Option(name)
		if by := o.DefaultBy; by != nil {
			if d, ok := by.Values[option.Text(get(by.Option))]; ok {
				return d
			}
		}
		return o.Default
	}
	return get
}

// Normalize converts values from JSON to the Go types of their options.
func (k *Kind) Normalize(raw map[string]any) (option.Values, error) {
	out := make(option.Values, len(raw))
	for name, v := range raw {
		o, ok := k.Option(name)
		if !ok {
			return nil, fmt.Errorf("workload %s has no option %q", k.Name, name)
		}
		if value, ok := k.deferred(o, option.Text(v)); ok {
			out[name] = value
			continue
		}
		parsed, err := o.Parse(option.Text(v))
		if err != nil {
			return nil, fmt.Errorf("option %s: %w", name, err)
		}
		out[name] = parsed
	}
	return out, nil
}

// Decoded decodes the options of a case of a document.
func Decoded[S any](k *Kind, raw map[string]any, decode func(option.Values) (S, error)) (s S, err error) {
	values, err := k.Normalize(raw)
	if err != nil {
		return s, err
	}
	return decode(values)
}
