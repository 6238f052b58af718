package workload

import (
	"fmt"
	"strconv"
	"strings"

	"weir/quantity"
)

// Values are option values by name, each of its option's Go type. They marshal
// to JSON as a person would write them: sizes with units, counts as numbers.
type Values map[string]any

// Parse reads the text of a value as the option's type and checks its bounds.
func (o Option) Parse(text string) (any, error) {
	switch o.Type {
	case Size:
		v, err := quantity.ParseSize(text)
		if err != nil {
			return nil, err
		}
		return v, o.inBounds(int64(v), v.String())
	case Count:
		v, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", text)
		}
		return v, o.inBounds(v, text)
	case Bool:
		switch text {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("%q is neither true nor false", text)
	case Enum:
		for _, v := range o.Values {
			if v == text {
				return text, nil
			}
		}
		return nil, fmt.Errorf("%q is not one of %s", text, strings.Join(o.Values, ", "))
	}
	return text, nil
}

func (o Option) inBounds(v int64, text string) error {
	show := func(n int64) string {
		if o.Type == Size {
			return quantity.Size(n).String()
		}
		return strconv.FormatInt(n, 10)
	}
	if v < o.Min {
		return fmt.Errorf("%s is below the least %s, which is %s", text, o.Name, show(o.Min))
	}
	if o.Max != 0 && v > o.Max {
		return fmt.Errorf("%s is above the largest %s, which is %s", text, o.Name, show(o.Max))
	}
	return nil
}

// Text is the canonical spelling of a value: equal values have equal texts.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64: // a count that has been through JSON
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// Normalize gives values that were read from JSON the Go types of their options.
func (k *Kind) Normalize(raw map[string]any) (Values, error) {
	out := make(Values, len(raw))
	for name, v := range raw {
		o, ok := k.Option(name)
		if !ok {
			return nil, fmt.Errorf("workload %s has no option %q", k.Name, name)
		}
		parsed, err := o.Parse(Text(v))
		if err != nil {
			return nil, fmt.Errorf("option %s: %w", name, err)
		}
		out[name] = parsed
	}
	return out, nil
}
