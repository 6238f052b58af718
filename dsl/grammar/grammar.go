// Package grammar is the table of everything that a scenario may say: each key
// with its forms, its default and its meaning. The loader takes its keys from
// here, and JSON Schema, documentation, formatter and converter are walks over
// it, so that no key is written down twice.
package grammar

import "slices"

// Shape is how a value is written.
type Shape int

// The shapes.
const (
	Scalar  Shape = iota // one value of a Type
	List                 // a sequence of Item
	Section              // a mapping with the keys of Keys; in HCL a block without label or an object
	Named                // named mappings with the keys of Keys; in HCL a block each, with the name as its label
	Map                  // a mapping of free names, of which Names tells what they name, to Value
	Sweep                // a node of a sweep: axes and their combinations
)

// Type is what the text of a scalar is read as.
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
	Any        Type = "any"        // read by the place that it goes to: an option, a variable
)

// Form is one way to write the value of a key.
type Form struct {
	Shape  Shape
	Type   Type     // of a Scalar
	Values []string // of a Scalar: the only texts that it may have
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
	Written  string // how a value looks, where its forms in words are too long; "": they are not
}

func scalar(t Type, values ...string) Form { return Form{Shape: Scalar, Type: t, Values: values} }
func list(items ...Form) Form              { return Form{Shape: List, Item: items} }
func section(keys ...Key) Form             { return Form{Shape: Section, Keys: keys} }
func mapOf(names string, values ...Form) Form {
	return Form{Shape: Map, Names: names, Value: values}
}

func key(name, doc string, forms ...Form) Key { return Key{Name: name, Doc: doc, Forms: forms} }

func (k Key) required() Key             { k.Required = true; return k }
func (k Key) or(text string) Key        { k.Default = text; return k }
func (k Key) named(singular string) Key { k.Singular = singular; return k }
func (k Key) written(text string) Key   { k.Written = text; return k }

// Find gives the key of a name among keys.
func Find(keys []Key, name string) (Key, bool) {
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

// Form gives the form of a key that has a shape.
func (k Key) Form(s Shape) (Form, bool) {
	i := slices.IndexFunc(k.Forms, func(f Form) bool { return f.Shape == s })
	if i < 0 {
		return Form{}, false
	}
	return k.Forms[i], true
}
