// Sections with fixed keys, read into structs by their tags.

package dsl

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
)

// fill sets the fields of the struct that into points to from the keys of a section. A field's key
// is its tag "key" ("-": none), or otherwise its JSON name if the grammar has that key:
//
//	Timeout time.Duration `key:"timeout"`
//
// Fields with absent keys keep their values. The grammar gives the values of a string, the bounds
// of a count or a percentage (float64), and whether a time may be 0. A []string is a program with
// its arguments. fill ignores fields of other types.
func (d *decoder) fill(p part, keys []grammar.Key, into any) {
	d.fields(p, keys, reflect.ValueOf(into).Elem())
}

func (d *decoder) fields(p part, keys []grammar.Key, into reflect.Value) {
	for i := range into.NumField() {
		of := into.Type().Field(i)
		if of.Anonymous && of.Type.Kind() == reflect.Struct {
			d.fields(p, keys, into.Field(i))
			continue
		}
		name, tagged := of.Tag.Lookup("key")
		if !tagged {
			name, _, _ = strings.Cut(of.Tag.Get("json"), ",")
		}
		key, known := grammar.Find(keys, name)
		if tagged && !known && name != "-" {
			panic(fmt.Sprintf("dsl: the grammar has no key %s for field %s", name, of.Name))
		}
		if expr := argument(p.BodyContent, name); known && expr != nil {
			d.field(into.Field(i), key, expr)
		}
	}
}

// field sets a field to the value of a key.
func (d *decoder) field(to reflect.Value, key grammar.Key, expr hcl.Expression) {
	switch to := to.Addr().Interface().(type) {
	case *bool:
		*to = d.flag(expr, key.Name)
	case **bool:
		value := d.flag(expr, key.Name)
		*to = &value
	case *int:
		*to = d.count(expr, key.Name, int(key.Min), int(key.Max))
	case *float64:
		*to = d.percent(expr, key.Name, key.Min, key.Max)
	case *time.Duration:
		if key.OrZero {
			*to = d.wait(expr, key.Name)
		} else {
			*to = d.duration(expr, key.Name)
		}
	case *[]string:
		*to, _ = d.argv(expr, key.Name)
	}
	if to.Kind() != reflect.String {
		return
	}
	read := func() (string, bool) { return d.text(expr, key.Name) }
	if form, _ := key.Form(grammar.Scalar); len(form.Values) > 0 {
		read = func() (string, bool) { return d.oneOf(expr, []grammar.Key{key}, key.Name) }
	}
	text, _ := read()
	to.SetString(text)
}

// sectionOf reads a section with fixed keys into a struct, as fill does. It returns false if the
// section is absent or lacks a required key, which it reports.
func (d *decoder) sectionOf(content *hcl.BodyContent, name string, keys []grammar.Key, into any) (part, bool) {
	p, ok := d.sectionPart(content, name, schemaOf(keys))
	if !ok {
		return p, false
	}
	d.fill(p, keys, into)
	return p, d.complete(p, keys, name)
}
