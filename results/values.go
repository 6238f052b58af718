package results

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MetricValues are the metrics of one launch. JSON has no numbers that are not
// finite, but a document must be able to say that one was measured: they are
// written as the strings "NaN", "Infinity" and "-Infinity".
type MetricValues struct{ Named[float64] }

// ValuesOf are the metrics of a map.
func ValuesOf(m map[string]float64) MetricValues { return MetricValues{NamedOf(m)} }

// MarshalJSON implements json.Marshaler.
func (m MetricValues) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, name := range m.names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		switch v := m.values[i]; {
		case math.IsNaN(v):
			b = append(b, `"NaN"`...)
		case math.IsInf(v, 1):
			b = append(b, `"Infinity"`...)
		case math.IsInf(v, -1):
			b = append(b, `"-Infinity"`...)
		default:
			b = appendNumber(b, v)
		}
	}
	return append(b, '}'), nil
}

// appendText appends a text as encoding/json writes it.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || strings.IndexByte(`"\<>&`, c) >= 0 {
			quoted, err := json.Marshal(text)
			if err != nil {
				panic(err) // a text can always be written
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// appendNumber appends a finite number as encoding/json writes it: like ECMAScript,
// without a zero that leads the exponent.
func appendNumber(b []byte, v float64) []byte {
	if a := math.Abs(v); a == 0 || a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, v, 'e', -1, 64)
	if n := len(b); n >= 4 && b[n-4] == 'e' && (b[n-3] == '-' || b[n-3] == '+') && b[n-2] == '0' {
		b = append(b[:n-2], b[n-1])
	}
	return b
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *MetricValues) UnmarshalJSON(b []byte) error {
	var in map[string]any
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	out := make(map[string]float64, len(in))
	for name, v := range in {
		switch v {
		case "NaN":
			out[name] = math.NaN()
		case "Infinity":
			out[name] = math.Inf(1)
		case "-Infinity":
			out[name] = math.Inf(-1)
		default:
			f, ok := v.(float64)
			if !ok { // null too: it must not be read as a measured 0
				return fmt.Errorf("metric %s is %v, not a number", name, v)
			}
			out[name] = f
		}
	}
	*m = ValuesOf(out)
	return nil
}
