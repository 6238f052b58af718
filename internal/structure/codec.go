package structure

import (
	"encoding"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/internal/quantity"
)

// Tag is the name of the tag that makes a field the key of a mapping:
//
//	Within time.Duration `key:"within,max=10m"`
//
// A field without it is not a key, and an embedded struct has the keys of its fields. A field may
// be a string, bool, int, time.Duration, quantity.Size, []string, []Named (a mapping from names to
// texts), a type that reads and writes its text (encoding.TextUnmarshaler and TextMarshaler) or its
// value (Reader and Writer), a struct (a mapping), a pointer to a struct (nil if the key is
// absent), or a list of structs (a mapping from the field with tag "*" to the other fields).
//
// Words after the name, separated by commas:
//
//	late      of texts: they may have names that are known only in a launch
//	regexp    of a string: it is a regular expression
//	program   of []string: a program with its arguments, not empty
//	single    of []string: a text may stand alone
//	required  the key must be given
//	zero      of a time: it may be 0
//	min=N, max=N   of an int or a time
//	one=A|B|C      of a string: the only values
//	whole     of a struct: it is written with all of its keys, also those that are as usual
const Tag = "key"

// Codec configures how texts are written.
type Codec struct {
	// Names checks the names in a text of package placeholder; only texts with "late" may have
	// names. Nil: texts are not of package placeholder.
	Names func(text string) error
}

// Named is a text with a name.
type Named struct{ Name, Value string }

// Reader decodes itself from a value and reports errors to the Decoder.
type Reader interface{ ReadValue(d *Decoder, v *Value) }

// Writer encodes itself as a value; nil: it is omitted.
type Writer interface{ WriteValue(c Codec) *Value }

// Checker checks a struct after all of its fields are decoded without errors.
type Checker interface{ Check(d *Decoder) }

// field is a key of a struct.
type field struct {
	name  string
	words map[string]string // by word, "" for a word without a value
	index []int
}

// fieldsOf returns the keys of a struct, in order.
func fieldsOf(t reflect.Type) (all []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup(Tag)
		if !ok && f.Anonymous {
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append(slices.Clone(f.Index), inner.index...)
				all = append(all, inner)
			}
		}
		if !ok {
			continue
		}
		name, rest, _ := strings.Cut(tag, ",")
		own := field{name: name, words: map[string]string{}, index: f.Index}
		for word := range strings.SplitSeq(rest, ",") {
			key, value, _ := strings.Cut(word, "=")
			own.words[key] = value
		}
		all = append(all, own)
	}
	return all
}

func (f field) has(word string) bool { _, ok := f.words[word]; return ok }

// nameField returns the field with the name of an item; nil: the items are not a mapping.
func nameField(t reflect.Type) []int {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range fieldsOf(t) {
		if f.name == "*" {
			return f.index
		}
	}
	return nil
}

// Encode writes a struct as a mapping, without the keys that are equal in otherwise, a struct of
// the same type.
func (c Codec) Encode(of, otherwise any) *Value {
	return c.mapping(reflect.ValueOf(of), reflect.ValueOf(otherwise))
}

// EncodeItems writes structs as a mapping from their names. otherwise returns the item without
// keys.
func EncodeItems[T any](c Codec, all []T, otherwise func(T) T) *Value {
	out := &Value{Pairs: []Pair{}}
	for _, item := range all {
		v := reflect.ValueOf(item)
		name := v.FieldByIndex(nameField(v.Type())).String()
		out.Pairs = append(out.Pairs, Pair{name, c.mapping(v, reflect.ValueOf(otherwise(item)))})
	}
	return out
}

// List writes texts without names of a launch.
func (c Codec) List(texts []string) *Value { return c.texts(field{}, texts) }

// Pairs writes texts by name.
func (c Codec) Pairs(all []Named) *Value { return c.pairs(field{}, all) }

func (c Codec) texts(f field, texts []string) *Value {
	out := &Value{Items: []*Value{}}
	for _, text := range texts {
		out.Items = append(out.Items, c.text(f, text))
	}
	return out
}

func (c Codec) pairs(f field, all []Named) *Value {
	out := &Value{Pairs: []Pair{}}
	for _, n := range all {
		out.Pairs = append(out.Pairs, Pair{n.Name, c.text(f, n.Value)})
	}
	return out
}

func (c Codec) mapping(of, otherwise reflect.Value) *Value {
	out := &Value{Pairs: []Pair{}}
	for _, f := range fieldsOf(of.Type()) {
		own, usual := of.FieldByIndex(f.index), otherwise.FieldByIndex(f.index)
		if f.name == "*" || reflect.DeepEqual(own.Interface(), usual.Interface()) {
			continue
		}
		if v := c.value(f, own, usual); v != nil && !v.empty() {
			out.Pairs = append(out.Pairs, Pair{f.name, v})
		}
	}
	return out
}

func (s *Value) empty() bool { return s.Text == "" && len(s.Items) == 0 && len(s.Pairs) == 0 }

func (c Codec) value(f field, of, usual reflect.Value) *Value {
	switch x := of.Interface().(type) {
	case Writer:
		return x.WriteValue(c)
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		if err != nil {
			return nil
		}
		return c.text(f, string(text))
	case quantity.Size:
		return c.text(f, x.String())
	case time.Duration:
		return c.text(f, quantity.Time(x).String())
	case []Named:
		return c.pairs(f, x)
	}
	switch of.Kind() {
	case reflect.String:
		return c.text(f, of.String())
	case reflect.Bool:
		return c.text(f, quantity.Text(of.Bool()))
	case reflect.Int:
		return c.text(f, quantity.Text(of.Int()))
	case reflect.Pointer:
		if of.IsNil() {
			return nil
		}
		return c.mapping(of.Elem(), reflect.Zero(of.Type().Elem()))
	case reflect.Slice:
		if of.Type().Elem().Kind() == reflect.String {
			return c.texts(f, of.Convert(reflect.TypeFor[[]string]()).Interface().([]string))
		}
		out := &Value{Pairs: []Pair{}}
		for i := range of.Len() {
			item := of.Index(i)
			name := item.FieldByIndex(nameField(item.Type())).String()
			out.Pairs = append(out.Pairs, Pair{name, c.mapping(item, reflect.Zero(item.Type()))})
		}
		return out
	}
	if f.has("whole") {
		usual = reflect.Zero(of.Type())
	}
	return c.mapping(of, usual)
}

// text writes a text; a text without names is escaped if the codec looks for names.
func (c Codec) text(f field, text string) *Value {
	if c.Names != nil && !f.has("late") {
		text = placeholder.Quote(text)
	}
	return &Value{Text: text}
}
