package structure

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/internal/quantity"
)

// Decode reads a mapping into the struct that into points to. Fields with absent keys keep their
// values. The error is an *Error or Errors, at most one for each key.
func (c Codec) Decode(v *Value, into any) error {
	d := &Decoder{codec: c, all: new(Errors)}
	d.Mapping(v, into)
	return d.all.OrNil()
}

// DecodePairs reads a mapping from names to texts.
func (c Codec) DecodePairs(v *Value) (all []Named, err error) {
	d := &Decoder{codec: c, all: new(Errors)}
	all = d.pairs(field{}, v)
	return all, d.all.OrNil()
}

// DecodeItems reads a mapping from names to mappings. begin returns an item without keys.
func DecodeItems[T any](c Codec, v *Value, begin func(name string, v *Value) T) (all []T, err error) {
	d := &Decoder{codec: c, all: new(Errors)}
	for _, p := range v.Pairs {
		item := begin(p.Key, p.Value)
		of := reflect.ValueOf(&item).Elem()
		of.FieldByIndex(nameField(of.Type())).SetString(p.Key)
		d.apart(p.Key).mapping(p.Value, of)
		all = append(all, item)
	}
	return all, d.all.OrNil()
}

// Decoder reads the part of a value at a path.
type Decoder struct {
	codec  Codec
	path   []string
	all    *Errors // shared by the decoders of all parts
	before int     // errors before the part
	given  []string
}

// At returns the decoder of a part. A part and what is around it report one error.
func (d *Decoder) At(key ...string) *Decoder {
	return &Decoder{codec: d.codec, path: append(slices.Clone(d.path), key...), all: d.all, before: d.before}
}

// apart is At of a part that reports its own error, whatever other parts report.
func (d *Decoder) apart(key string) *Decoder {
	part := d.At(key)
	part.before = len(*d.all)
	return part
}

// Fail reports an error of the part, unless it has one already.
func (d *Decoder) Fail(format string, args ...any) {
	if !d.Failed() {
		d.fail(&Error{Path: slices.Clone(d.path), Err: fmt.Errorf(format, args...)})
	}
}

func (d *Decoder) fail(err *Error) { *d.all = append(*d.all, err) }

// Failed reports whether the part has an error.
func (d *Decoder) Failed() bool { return len(*d.all) > d.before }

// Given reports whether the current mapping has a key.
func (d *Decoder) Given(key string) bool { return slices.Contains(d.given, key) }

// Keys returns the number of keys of the current mapping.
func (d *Decoder) Keys() int { return len(d.given) }

// Mapping reads a mapping into the struct that into points to, and checks it.
func (d *Decoder) Mapping(v *Value, into any) { d.mapping(v, reflect.ValueOf(into).Elem()) }

func (d *Decoder) mapping(v *Value, into reflect.Value) {
	fields := slices.DeleteFunc(fieldsOf(into.Type()), func(f field) bool { return f.name == "*" })
	var known []string
	for _, f := range fields {
		known = append(known, f.name)
	}
	if v.Pairs == nil {
		d.Fail("it is %s, not a mapping with the keys %s", v.What(), strings.Join(known, ", "))
		return
	}
	for _, p := range v.Pairs {
		if !slices.Contains(known, p.Key) {
			d.fail(UnknownKey(append(slices.Clone(d.path), p.Key), known))
		}
		d.given = append(d.given, p.Key)
	}
	for _, f := range fields {
		part := v.At(f.name)
		switch {
		case part != nil:
			d.apart(f.name).field(f, part, into.FieldByIndex(f.index))
		case f.has("required"):
			d.Fail("it has no %s", f.name)
		}
	}
	if checker, ok := into.Addr().Interface().(Checker); ok && !d.Failed() {
		checker.Check(d)
	}
}

// named reads a mapping from names to the items of a list.
func (d *Decoder) named(v *Value, list reflect.Value) {
	if v.Pairs == nil {
		d.Fail("it is %s, not a mapping from names", v.What())
	}
	for _, p := range v.Pairs {
		item := reflect.New(list.Type().Elem()).Elem()
		item.FieldByIndex(nameField(item.Type())).SetString(p.Key)
		d.apart(p.Key).mapping(p.Value, item)
		list.Set(reflect.Append(list, item))
	}
}

// field reads the value of a key.
func (d *Decoder) field(f field, v *Value, into reflect.Value) {
	switch x := into.Addr().Interface().(type) {
	case Reader:
		x.ReadValue(d, v)
		return
	case encoding.TextUnmarshaler:
		if text := d.text(f, v); !d.Failed() {
			if err := x.UnmarshalText([]byte(text)); err != nil {
				d.Fail("%w", err)
			}
		}
		return
	case *time.Duration:
		*x = d.duration(f, d.text(f, v))
		return
	case *quantity.Size:
		var err error
		if *x, err = quantity.ParseSize(d.text(f, v)); err != nil {
			d.Fail("%w", err)
		}
		return
	case *[]string:
		*x = d.texts(f, v)
		return
	case *[]Named:
		*x = d.pairs(f, v)
		return
	}
	switch into.Kind() {
	case reflect.String:
		into.SetString(d.string(f, v))
	case reflect.Bool:
		text := d.text(f, v)
		if text != "true" && text != "false" {
			d.Fail("%q is neither true nor false", text)
		}
		into.SetBool(text == "true")
	case reflect.Int:
		into.SetInt(d.int(f, d.text(f, v)))
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		d.mapping(v, into.Elem())
	case reflect.Slice:
		d.named(v, into)
	default:
		d.mapping(v, into)
	}
}

// Text reads a text; with late, it may have names of a launch.
func (d *Decoder) Text(v *Value, late bool) string {
	switch {
	case !v.IsText():
		d.Fail("it is %s, not a text", v.What())
	case strings.ContainsRune(v.Text, 0):
		d.Fail("it contains a NUL character")
	case d.codec.Names == nil:
	case late:
		if err := d.codec.Names(v.Text); err != nil {
			d.Fail("%w", err)
		}
	default:
		if err := d.codec.Names(v.Text); err != nil {
			d.Fail("%w", err)
		}
		text, ok := placeholder.Unquote(v.Text)
		if !ok {
			d.Fail("it is needed before the launch, so it cannot use names of the launch")
		}
		return text
	}
	return v.Text
}

// Time reads a time above zero.
func (d *Decoder) Time(v *Value) time.Duration { return d.duration(field{}, d.Text(v, false)) }

func (d *Decoder) text(f field, v *Value) string { return d.Text(v, f.has("late")) }

func (d *Decoder) string(f field, v *Value) string {
	text := d.text(f, v)
	if f.has("regexp") {
		if _, err := regexp.Compile(text); err != nil {
			d.Fail("%w", err)
		}
	}
	if values := strings.Split(f.words["one"], "|"); f.has("one") && !slices.Contains(values, text) {
		d.Fail("%q is not one of %s", text, strings.Join(values, ", "))
	}
	return text
}

func (d *Decoder) texts(f field, v *Value) (all []string) {
	switch {
	case f.has("single") && v.IsText():
		return []string{d.text(f, v)}
	case v.Items == nil && f.has("program") && v.IsText():
		d.Fail("it is a text, not a list of texts: write %s", split(v.Text))
	case v.Items == nil:
		d.Fail("it is %s, not a list of texts", v.What())
	}
	for i, item := range v.Items {
		all = append(all, d.At(strconv.Itoa(i)).text(f, item))
	}
	if f.has("program") && (len(all) == 0 || all[0] == "") {
		d.Fail("it has no program")
	}
	return all
}

func (d *Decoder) pairs(f field, v *Value) (all []Named) {
	if v.Pairs == nil {
		d.Fail("it is %s, not a mapping from names to texts", v.What())
	}
	for _, p := range v.Pairs {
		all = append(all, Named{p.Key, d.At(p.Key).text(f, p.Value)})
	}
	return all
}

func (d *Decoder) duration(f field, text string) time.Duration {
	t, err := quantity.ParseTime(text)
	switch {
	case err != nil || t < 0 || t == 0 && !f.has("zero"):
		above := " above zero"
		if f.has("zero") {
			above = ""
		}
		d.Fail("%q is not a time%s, as 30s", text, above)
	case f.has("max") && t > must(quantity.ParseTime(f.words["max"])):
		d.Fail("%v is more than %s", t, f.words["max"])
	}
	return t
}

func (d *Decoder) int(f field, text string) int64 {
	least, most := int64(0), int64(math.MaxInt32)
	if f.has("min") {
		least = must(strconv.ParseInt(f.words["min"], 10, 64))
	}
	if f.has("max") {
		most = must(strconv.ParseInt(f.words["max"], 10, 64))
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		d.Fail("%q is not a whole number from %d to %d", text, least, most)
	}
	return n
}

// must unwraps values of tags, which are constants of the program.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("a tag %s: %v", Tag, err))
	}
	return v
}
