// Options that are mappings and lists.

package dsl

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/internal/suggest"
)

// structureReader reads an expression of mappings and lists part by part, so that errors have exact
// places and pairs keep their order.
type structureReader struct {
	launchNames []string
	typed       bool // "5" and 5 differ
	context     *hcl.EvalContext
	diags       hcl.Diagnostics
	places      map[string]hcl.Range // by path
	keys        map[string]hcl.Range // of the keys of mappings, by path
	unknown     bool                 // a part failed, which is reported
	called      bool                 // the expression calls a function
}

const pathSeparator = "\x00"

// structure computes the JSON of a structure, checked by its option.
func (s *Setting) structure(ctx *hcl.EvalContext) (any, hcl.Diagnostics) {
	r := &structureReader{launchNames: s.Option.Late, typed: s.Option.Typed, context: ctx,
		places: map[string]hcl.Range{}, keys: map[string]hcl.Range{}}
	value := r.read(s.expr, nil)
	if r.diags.HasErrors() || r.unknown {
		return nil, explain(r.diags)
	}
	if short := s.Option.Forms.Short; short != "" && value.IsText() {
		value = &structure.Value{Pairs: []structure.Pair{{Key: short, Value: value}}}
	}
	parsed, err := s.Option.Parse(value.JSON())
	if err == nil {
		return parsed, nil
	}
	if several, ok := errors.AsType[structure.Errors](err); ok {
		var diags hcl.Diagnostics
		for _, one := range several {
			diags = append(diags, s.wrongPart(r, one))
		}
		return nil, diags
	}
	return nil, hcl.Diagnostics{s.wrongPart(r, err)}
}

// wrongPart is the diagnostic of an error in a structure.
func (s *Setting) wrongPart(r *structureReader, err error) *hcl.Diagnostic {
	at, what, summary, hint := s.expr.Range(), "Option "+s.Name, "Invalid value", ""
	if wrong, ok := errors.AsType[*structure.Error](err); ok {
		at, what = r.nearest(wrong.Path, at), strings.Join(append([]string{what}, wrong.Path...), ".")
		err = wrong.Err
		if n := len(wrong.Path); wrong.Known != nil {
			if key, ok := r.keys[strings.Join(wrong.Path, pathSeparator)]; ok {
				at = key
			}
			summary = "Unknown key"
			hint = suggest.Documented(wrong.Path[n-1], wrong.Known, "keys", "weir docs workloads")
		}
	}
	return diagnostic(at, summary, fmt.Sprintf("%s: %v.", what, err), hint)
}

// nearest returns the place of a part, or of the smallest part around it.
func (r *structureReader) nearest(path []string, whole hcl.Range) hcl.Range {
	for n := len(path); n > 0; n-- {
		if at, ok := r.places[strings.Join(path[:n], pathSeparator)]; ok {
			return at
		}
	}
	return whole
}

func (r *structureReader) fail(at hcl.Range, detail, hint string) {
	r.diags = append(r.diags, diagnostic(at, "Invalid value", detail, hint))
}

// runValueTooEarly reports a value of a run in a part that must be known earlier.
func (r *structureReader) runValueTooEarly(at hcl.Range) {
	r.diags = append(r.diags, diagnostic(at, "Value of a run",
		"This depends on the result of a run, but is needed earlier.", runValuesHint))
}

func (r *structureReader) read(expr hcl.Expression, path []string) *structure.Value {
	out := &structure.Value{}
	if items, diags := hcl.ExprList(expr); !diags.HasErrors() && items != nil {
		out.Items = []*structure.Value{}
		for i, item := range items {
			out.Items = append(out.Items, r.part(item, item.Range(), path, strconv.Itoa(i)))
		}
		return out
	}
	pairs, diags := hcl.ExprMap(expr)
	if diags.HasErrors() || pairs == nil {
		return r.value(expr)
	}
	out.Pairs = []structure.Pair{}
	for _, p := range pairs {
		v, diags := p.Key.Value(nil)
		key, ok := plainText(v)
		switch {
		case diags.HasErrors() || !ok:
			r.fail(p.Key.Range(), "A key is a plain text.", "Write it without ${…}.")
		case slices.ContainsFunc(out.Pairs, func(p structure.Pair) bool { return p.Key == key }):
			r.fail(p.Key.Range(), quote(key)+" was already given.", "Keep one of the two.")
		default:
			at := p.Value.Range()
			if _, isList := hcl.ExprList(p.Value); !isList.HasErrors() || isMapping(p.Value) {
				at = p.Key.Range()
			}
			r.keys[strings.Join(append(slices.Clone(path), key), pathSeparator)] = p.Key.Range()
			out.Pairs = append(out.Pairs, structure.Pair{Key: key, Value: r.part(p.Value, at, path, key)})
		}
	}
	return out
}

func (r *structureReader) part(expr hcl.Expression, at hcl.Range, path []string, name string) *structure.Value {
	path = append(slices.Clone(path), name)
	r.places[strings.Join(path, pathSeparator)] = at
	return r.read(expr, path)
}

// value reads what is not written as a list or mapping: the variable in it may be one.
func (r *structureReader) value(expr hcl.Expression) *structure.Value {
	if len(runValues(expr)) > 0 {
		if len(r.launchNames) == 0 {
			r.runValueTooEarly(expr.Range())
			return &structure.Value{}
		}
		text, diags := withValues(expr, r.context, r.launchNames)
		r.diags = append(r.diags, diags...)
		return &structure.Value{Text: text}
	}
	v, diags := expr.Value(r.context)
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() || !v.IsWhollyKnown() {
		r.unknown = true
		return &structure.Value{}
	}
	if plain, ok := expr.(interface{ Plain() bool }); ok && r.typed && plain.Plain() && !v.IsNull() {
		return &structure.Value{Text: v.AsString()}
	}
	if r.called = callsFunction(expr); len(r.launchNames) > 0 && hasNUL(expr) {
		r.fail(expr.Range(), nulDetail, "")
		return &structure.Value{}
	}
	return r.convert(v, expr.Range())
}

func (r *structureReader) convert(v cty.Value, at hcl.Range) *structure.Value {
	out := &structure.Value{}
	if v.IsNull() && r.typed {
		out.Text = "null"
		return out
	}
	if v.IsNull() || !v.CanIterateElements() {
		text, problem := scalarText(v)
		if problem != "" {
			r.fail(at, "A part of it "+problem+".", `Write "" for an empty text, or leave the key out.`)
			return out
		}
		if len(r.launchNames) == 0 {
			if strings.Contains(text, nameMark) { // of a variant
				r.runValueTooEarly(at)
			}
			if out.Text = text; r.typed && v.Type() == cty.String {
				out.Text = structure.TypedText(text)
			}
			return out
		}
		var ok bool
		if out.Text, ok = placeholders(text, r.launchNames); !ok {
			r.fail(at, changedName(r.called), changedNameHint(r.called, r.launchNames))
		}
		return out
	}
	if v.Type().IsObjectType() || v.Type().IsMapType() {
		out.Pairs = []structure.Pair{}
		for it := v.ElementIterator(); it.Next(); {
			key, inner := it.Element()
			out.Pairs = append(out.Pairs, structure.Pair{Key: key.AsString(), Value: r.convert(inner, at)})
		}
		return out
	}
	out.Items = []*structure.Value{}
	for it := v.ElementIterator(); it.Next(); {
		_, inner := it.Element()
		out.Items = append(out.Items, r.convert(inner, at))
	}
	return out
}

// PartOf returns the place of a part of a structure, by the names that lead to it, or of the
// smallest part around it.
func (s *Setting) PartOf(path ...string) (hcl.Range, bool) {
	if s.otherwise != nil {
		return s.otherwise.PartOf(path...)
	}
	if s.parts == nil {
		return s.Given()
	}
	at, rest := s.parts.Range(), s.parts
	for _, name := range path {
		pairs, _ := hcl.ExprMap(rest)
		i := slices.IndexFunc(pairs, func(p hcl.KeyValuePair) bool {
			v, _ := p.Key.Value(nil)
			key, isText := plainText(v)
			return isText && key == name
		})
		if i < 0 {
			break
		}
		at, rest = pairs[i].Key.Range(), pairs[i].Value
	}
	return at, true
}
