package option

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/structure"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
)

// Values are option values by name, each of its option's Go type. In JSON they are written as
// people would: sizes with units, counts as numbers.
type Values map[string]any

// MarshalJSON writes the values sorted by name. It is fast, since plans have hundreds of thousands.
func (v Values) MarshalJSON() ([]byte, error) {
	names := slices.AppendSeq(make([]string, 0, len(v)), maps.Keys(v))
	slices.Sort(names)
	out := append(make([]byte, 0, 32*len(names)+2), '{')
	var err error
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = jsontext.AppendQuote(out, name); err != nil {
			return nil, err
		}
		out = append(out, ':')
		if out, err = appendValue(out, v[name]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendValue(out []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(out, v, 10), nil
	case bool:
		return strconv.AppendBool(out, v), nil
	case string:
		if quoted, err := jsontext.AppendQuote(out, v); err == nil { // otherwise it is not UTF-8
			return quoted, nil
		}
	}
	if m, ok := v.(json.Marshaler); ok { // a quantity
		text, err := m.MarshalJSON()
		return append(out, text...), err
	}
	text, err := json.Marshal(v)
	return append(out, text...), err
}

// Parse reads the text of a value as the option's type and checks its bounds.
func (o Option) Parse(text string) (any, error) {
	switch o.Type {
	case Size:
		v, err := quantity.ParseSize(text)
		if err != nil {
			return nil, err
		}
		return v, o.inBounds(int64(v), v.String())
	case Factor:
		return parseFactor(text)
	case Time, Rate, Frequency, Percent:
		return o.parseTyped(text)
	case Count:
		v, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
		if err != nil && o.Words != nil {
			return text, o.Words(text)
		}
		if errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("%q is too large a number", text)
		}
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
	case Params:
		_, err := ParseParams(text)
		return text, err
	case NUMA:
		n, err := ParseNUMA(text)
		return n.String(), err
	case Failures:
		_, err := ParseFailures(text)
		return text, err
	case Matrix:
		m, err := ParseMatrix(text)
		if err != nil {
			return nil, err
		}
		return m.Compact(), nil
	case Generator:
		g, err := ParseGenerated(text)
		if err != nil {
			return nil, err
		}
		return g.String(), nil
	case Structure, Data:
		if o.Read != nil {
			return o.Read(text)
		}
		s, err := structure.Read(text)
		if err != nil {
			return nil, err
		}
		return s.JSON(), nil
	}
	return text, nil
}

// parseFactor reads a number or a percentage.
func parseFactor(text string) (any, error) {
	if p, err := quantity.ReadPercent(text); err == nil && strings.HasSuffix(strings.TrimSpace(text), "%") {
		text = strconv.FormatFloat(quantity.Round(float64(p)), 'f', -1, 64)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789.") != "" || !(v >= 0 && v <= 1000) {
		return nil, fmt.Errorf("%q is not a factor: write a number from 0 to 1000, as 0.01", text)
	}
	return Scale(v), nil
}

// parseTyped reads a value with a unit. Bounds apply to the value as written, so a value just
// outside is refused although it rounds to the bound.
func (o Option) parseTyped(text string) (any, error) {
	var v fmt.Stringer
	var n float64 // in the unit of the bounds
	var err error
	switch o.Type {
	case Time:
		var t quantity.Time
		t, err = quantity.ReadTime(text)
		v, n = t, float64(t)
	case Rate:
		var r quantity.Rate
		r, err = quantity.ReadRate(text)
		v, n = r, float64(r)
	case Frequency:
		var p quantity.PerSecond
		p, err = quantity.ReadPerSecond(text)
		v, n = p, float64(p)
	case Percent:
		var p quantity.Percent
		p, err = quantity.ReadPercent(text)
		v, n = p, quantity.Round(float64(p)*100)
	}
	switch {
	case err != nil:
		return nil, err
	case n < float64(o.Min):
		return nil, o.outside(v, "below the least", o.Min)
	case o.Max != 0 && n > float64(o.Max):
		return nil, o.outside(v, "above the largest", o.Max)
	}
	return v, nil
}

func (o Option) inBounds(v int64, text string) error {
	if v < o.Min {
		return o.outside(text, "below the least", o.Min)
	}
	if o.Max != 0 && v > o.Max {
		return o.outside(text, "above the largest", o.Max)
	}
	return nil
}

func (o Option) outside(value any, how string, bound int64) error {
	return fmt.Errorf("%v is %s %s, which is %s", value, how, o.Name, o.bound(bound))
}

// bound formats a bound in the option's own units.
func (o Option) bound(n int64) string {
	switch o.Type {
	case Size:
		return quantity.Size(n).String()
	case Time:
		return quantity.Time(n).String()
	case Rate:
		return quantity.Rate(n).String()
	case Frequency:
		return quantity.PerSecond(n).String()
	case Percent:
		return strconv.FormatInt(n, 10) + "%"
	}
	return strconv.FormatInt(n, 10)
}

// Number returns the value of a numeric option in base units: bytes, seconds, bytes per second,
// shares and counts.
func Number(v any) (float64, bool) {
	switch v := v.(type) {
	case quantity.Size:
		return float64(v), true
	case quantity.Time:
		return v.Seconds(), true
	case quantity.Rate:
		return float64(v), true
	case quantity.PerSecond:
		return float64(v), true
	case quantity.Percent:
		return float64(v), true
	case quantity.Written:
		return v.Value, true
	case int64:
		return float64(v), true
	case Scale:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// Show formats a value for people: its text, but a summary of a matrix, which may have a million
// cells, and the digest of data.
func (o Option) Show(v any) string {
	text, ok := v.(string)
	if o.Type == Data && ok && text != "" {
		return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))[:len("sha256:")+16]
	}
	if o.Type != Matrix || !ok {
		return Text(v)
	}
	m, err := matrix.ParseCompact(text)
	if err != nil {
		return text // of a plan that is not yet checked
	}
	return Amount(m)
}

// Text returns the canonical text of a value: equal values have equal texts.
func Text(v any) string {
	return quantity.Text(v)
}

// Scale is the factor by which sleeps are multiplied; 1: unchanged.
type Scale float64

func (s Scale) String() string { return Text(float64(s)) }
