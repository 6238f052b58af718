package results

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MetricValues are the metrics of one launch. Non-finite numbers, which JSON lacks, are written as the
// strings "NaN", "Infinity" and "-Infinity".
type MetricValues struct{ Named[float64] }

// ValuesOf converts a map of metrics.
func ValuesOf(m map[string]float64) MetricValues { return MetricValues{NamedOf(m)} }

// MarshalJSONTo implements json.MarshalerTo.
func (n Named[V]) MarshalJSONTo(enc *jsontext.Encoder) error {
	return n.writeJSON(enc, func(v V) error { return json.MarshalEncode(enc, v) })
}

// MarshalJSONTo implements json.MarshalerTo.
func (m MetricValues) MarshalJSONTo(enc *jsontext.Encoder) error {
	return m.writeJSON(enc, func(v float64) error { return enc.WriteToken(jsontext.Float(v)) })
}

func (n Named[V]) writeJSON(enc *jsontext.Encoder, value func(V) error) error {
	err := enc.WriteToken(jsontext.BeginObject)
	for i, name := range n.names {
		if err = errors.Join(err, enc.WriteToken(jsontext.String(name))); err == nil {
			err = value(n.values[i])
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(err, enc.WriteToken(jsontext.EndObject))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *Named[V]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return n.readJSON(dec, new([]string))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *MetricValues) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return m.readJSON(dec, new([]string))
}

func (n *Named[V]) readJSON(dec *jsontext.Decoder, likely *[]string) (err error) {
	*n, err = readNamed(dec, likely, func(v *V) error { return json.UnmarshalDecode(dec, v) })
	return err
}

func (m *MetricValues) readJSON(dec *jsontext.Decoder, likely *[]string) (err error) {
	m.Named, err = readNamed(dec, likely, func(v *float64) error {
		text, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if text.Kind() == '"' { // one of three words
			text, _ = jsontext.AppendUnquote(nil, text)
			if !slices.Contains([]string{"NaN", "Infinity", "-Infinity"}, string(text)) {
				return fmt.Errorf("the metric is %q, not a number", text)
			}
		}
		if *v, err = strconv.ParseFloat(string(text), 64); err != nil { // also rejects null, which is not 0
			return fmt.Errorf("the metric is %s, not a number", text)
		}
		return nil
	})
	return err
}

// readNamed reads an object, and shares names with the previous object if equal.
func readNamed[V any](dec *jsontext.Decoder, likely *[]string, value func(*V) error) (n Named[V], err error) {
	if dec.PeekKind() == 'n' {
		return n, dec.SkipValue()
	}
	if open, err := dec.ReadToken(); err != nil || open.Kind() != '{' {
		return n, errors.Join(err, fmt.Errorf("it is no object"))
	}
	known, own := *likely, []string(nil)
	n.values = make([]V, 0, len(known))
	for dec.PeekKind() != '}' {
		name, err := dec.ReadValue()
		if err != nil {
			return n, err
		}
		i := len(n.values)
		if own != nil || i == len(known) || string(name[1:len(name)-1]) != known[i] {
			if own == nil {
				own = append(make([]string, 0, i+1), known[:i]...)
			}
			text, _ := jsontext.AppendUnquote(nil, name)
			own = append(own, string(text))
		}
		n.values = append(n.values, *new(V))
		if err := value(&n.values[i]); err != nil {
			return n, err
		}
	}
	if own != nil {
		n.names, *likely = own, own
	} else {
		n.names = known[:len(n.values)]
	}
	if len(n.names) == 0 {
		n = Named[V]{}
	} else if !slices.IsSorted(n.names) {
		m := make(map[string]V, len(n.names))
		for i, name := range n.names {
			m[name] = n.values[i]
		}
		n = NamedOf(m)
	}
	_, err = dec.ReadToken()
	return n, err
}

// MarshalJSON implements json.Marshaler of encoding/json.
func (n Named[V]) MarshalJSON() ([]byte, error) { return json.Marshal(n, encoding) }

// MarshalJSON implements json.Marshaler of encoding/json.
func (m MetricValues) MarshalJSON() ([]byte, error) { return json.Marshal(m, encoding) }

// UnmarshalJSON implements json.Unmarshaler of encoding/json.
func (n *Named[V]) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, n) }

// UnmarshalJSON implements json.Unmarshaler of encoding/json.
func (m *MetricValues) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, m) }
