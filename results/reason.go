package results

import (
	"math"
	"slices"
	"strconv"
)

// Reason is a fact behind a verdict. Package gate/wording formats it.
type Reason struct {
	Kind   ReasonKind `json:"kind" doc:"What it is: weir docs reasons has the kinds."`
	Place  Place      `json:"place,omitzero"`
	Values []Value    `json:"values,omitempty"`
}

// Place locates a reason, unless it concerns all launches of the assertion's own case.
type Place struct {
	Side     string `json:"side,omitempty" doc:"Of a comparison." schema:"enum=base|new"`
	Baseline bool   `json:"baseline,omitzero" doc:"In the stored baseline, not in this session."`
	Case     string `json:"case,omitempty" doc:"Key."`
	Launch   int    `json:"launch,omitzero" doc:"As people count, from 1."`
}

// Value is a number with its unit, or a text.
type Value struct {
	Name   string  `json:"name"`
	Number float64 `json:"number,omitzero" doc:"0 if it is absent and there is no text either."`
	Unit   string  `json:"unit,omitempty" doc:"Of the number; share: 0.05 is 5 %; launch, case, …: a count of them."`
	Text   string  `json:"text,omitempty"`
}

// Because returns a reason. Values without a name are left out.
func Because(kind ReasonKind, values ...Value) Reason {
	return Reason{Kind: kind, Values: slices.DeleteFunc(values, func(v Value) bool { return v.Name == "" })}
}

// Number returns a numeric value. Non-finite numbers become texts.
func Number(name string, v float64, unit string) Value {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Text(name, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return Value{Name: name, Number: v, Unit: unit}
}

// Count returns a count of things.
func Count(name string, n int, of string) Value { return Number(name, float64(n), of) }

// Text returns a text value; an empty text is left out.
func Text(name, text string) Value {
	if text == "" {
		return Value{}
	}
	return Value{Name: name, Text: text}
}

// In sets the case of a reason.
func (r Reason) In(key string) Reason {
	r.Place.Case = key
	return r
}

// At sets the launch of a reason.
func (r Reason) At(index int) Reason {
	r.Place.Launch = index + 1
	return r
}

// None reports whether there is no reason.
func (r Reason) None() bool { return r.Kind == "" }

// Value returns the first value with a name.
func (r Reason) Value(name string) (Value, bool) {
	for _, v := range r.Values {
		if v.Name == name {
			return v, true
		}
	}
	return Value{}, false
}

// Text returns the text of a value, or "".
func (r Reason) Text(name string) string {
	v, _ := r.Value(name)
	return v.Text
}

// Number returns the number of a value, or nil.
func (r Reason) Number(name string) *float64 {
	if v, ok := r.Value(name); ok {
		return &v.Number
	}
	return nil
}
