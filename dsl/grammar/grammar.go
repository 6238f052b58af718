// Package grammar is the table of all keys of a scenario, each with its forms, default and meaning.
// The loader, the JSON Schema, the documentation, the formatter and the converter all use this
// table, so that every key is defined once.
package grammar

import (
	"fmt"
	"slices"
	"strings"
)

// Shape is the structure of a value.
type Shape int

// The shapes.
const (
	Scalar  Shape = iota // one value of a Type
	List                 // a sequence of Item
	Section              // a mapping with the keys of Keys; in HCL a block without label or an object
	Named                // named mappings with the keys of Keys; in HCL a block each, with the name as its label
	Map                  // a mapping from free names to Value; Names says what they name
	Sweep                // a node of a sweep: axes and their combinations
)

// Type is the type of a scalar.
type Type string

// The types of scalars.
const (
	String     Type = "string"
	Count      Type = "count" // a whole number
	Bool       Type = "bool"
	Time       Type = "time"
	Percent    Type = "percent"
	Date       Type = "date"       // 2006-01-02
	Condition  Type = "condition"  // expr-lang over options and axes
	Assertion  Type = "assertion"  // the language of assertions
	Expression Type = "expression" // ${…}, an HCL expression
	File       Type = "file"       // a path, relative to the file that names it
	Any        Type = "any"        // depends on the option or variable that it sets
)

// Form is one way to write the value of a key.
type Form struct {
	Shape  Shape
	Type   Type     // of a Scalar
	Values []string // of a Scalar: the only allowed texts
	Item   []Form   // of a List
	Keys   []Key    // of a Section or Named
	Names  string   // of a Map: options, env, axes, variables, runs, metrics
	Value  []Form   // of a Map
}

// Key is one key of a mapping. HCL writes a Named key in the singular.
type Key struct {
	Name     string // as YAML writes it
	Singular string // of a Named key: the type of its block in HCL
	Doc      string // one sentence, lower-case, without a full stop
	Default  string // as the author would write it; "": none
	Required bool
	Forms    []Form
	// Min and Max bound a count, and as shares a percentage, which is below Max.
	Min, Max float64
	OrZero   bool   // a time may be 0
	Written  string // replaces the description of the forms if that is too long; "": it is used
}

func scalar(t Type, values ...string) Form { return Form{Shape: Scalar, Type: t, Values: values} }
func list(items ...Form) Form              { return Form{Shape: List, Item: items} }
func section(keys ...Key) Form             { return Form{Shape: Section, Keys: keys} }
func mapOf(names string, values ...Form) Form {
	return Form{Shape: Map, Names: names, Value: values}
}

func key(name, doc string, forms ...Form) Key { return Key{Name: name, Doc: doc, Forms: forms} }

func (k Key) required() Key      { k.Required = true; return k }
func (k Key) or(text string) Key { k.Default = text; return k }
func (k Key) within(least, most float64) Key {
	k.Min, k.Max = least, most
	return k
}
func (k Key) orZero() Key               { k.OrZero = true; return k }
func (k Key) named(singular string) Key { k.Singular = singular; return k }
func (k Key) written(text string) Key   { k.Written = text; return k }

// Note is the default and the bounds of a key, as " (default: 1; 1 to 100)"; "" if it has none.
func (k Key) Note() string {
	var parts []string
	switch {
	case k.Default != "":
		parts = append(parts, "default: "+k.Default)
	case k.Required:
		parts = append(parts, "required")
	}
	switch scalar, _ := k.Form(Scalar); {
	case k.Max > 0 && scalar.Type == Percent:
		parts = append(parts, fmt.Sprintf("%g%% to below %g%%", 100*k.Min, 100*k.Max))
	case k.Max > 0:
		parts = append(parts, fmt.Sprintf("%.0f to %.0f", k.Min, k.Max))
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// Find returns the key of a name.
func Find(keys []Key, name string) (Key, bool) {
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

// Form returns the form of a key that has the shape.
func (k Key) Form(s Shape) (Form, bool) {
	i := slices.IndexFunc(k.Forms, func(f Form) bool { return f.Shape == s })
	if i < 0 {
		return Form{}, false
	}
	return k.Forms[i], true
}
