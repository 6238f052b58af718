package results

import (
	"encoding/json"
	"fmt"
	"math"
)

// MetricValues are the metrics of one launch. JSON has no numbers that are not
// finite, but a document must be able to say that one was measured: they are
// written as the strings "NaN", "Infinity" and "-Infinity".
type MetricValues map[string]float64

// MarshalJSON implements json.Marshaler.
func (m MetricValues) MarshalJSON() ([]byte, error) {
	out := make(map[string]any, len(m))
	for name, v := range m {
		switch {
		case math.IsNaN(v):
			out[name] = "NaN"
		case math.IsInf(v, 1):
			out[name] = "Infinity"
		case math.IsInf(v, -1):
			out[name] = "-Infinity"
		default:
			out[name] = v
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *MetricValues) UnmarshalJSON(b []byte) error {
	var in map[string]any
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	out := make(MetricValues, len(in))
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
	*m = out
	return nil
}
