// One axis of a sweep: its name, its values and their types.

package dsl

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
)

// axisValues reads a list or a range as values of what the axis sets.
func (s *sweeper) axisValues(e entry, kind *workload.Kind) []AxisValue {
	if e.expr == nil {
		s.error(e.at, "Not an axis", fmt.Sprintf("Axis %q cannot be a block.", e.name),
			"Write its values after an equals sign: "+e.name+" = […].")
		return nil
	}
	texts, written, ok := s.axisTexts(e, kind)
	if !ok {
		return nil
	}
	if len(texts) == 0 {
		s.error(e.expr.Range(), "Empty axis", fmt.Sprintf("Axis %q has no values, so nothing would run.", e.name),
			"Give it values, or remove it.")
		return nil
	}
	o, isOption := kind.Option(e.name)
	var values []AxisValue
	var wrong hcl.Range
	for _, t := range texts {
		if t.at == wrong {
			continue // one error for all values of a range
		}
		if v, ok := s.value(t, e.name, o, isOption); ok {
			values = append(values, v)
		} else {
			wrong = t.at
		}
	}
	if written != "" && len(values) == len(texts) {
		s.warnUnmetEnd(e, written, texts)
	}
	return values
}

// inferType gives an axis with a name of the author's own the type that all its values have.
func inferType(values []AxisValue) {
	numbers, flags := true, true
	for _, v := range values {
		_, isNumber := parseNumber(v.Text)
		numbers = numbers && isNumber
		flags = flags && (v.Text == "true" || v.Text == "false")
	}
	quantities := writtenQuantities(values)
	for i, v := range values {
		switch {
		case numbers:
			values[i].Value, _ = parseNumber(v.Text)
		case flags:
			values[i].Value = v.Text == "true"
		case quantities != nil:
			values[i].Value = quantities[i]
		}
	}
}

// writtenQuantities returns the values if all are quantities of one dimension with units, otherwise
// nil.
func writtenQuantities(values []AxisValue) []quantity.Written {
	all := make([]quantity.Written, len(values))
	unit := -1
	for i, v := range values {
		var err error
		if all[i], err = quantity.ReadWritten(v.Text); err != nil {
			return nil
		}
		if all[i].Unit == "" { // 0 fits every dimension
			continue
		}
		if unit >= 0 && all[i].Dim != all[unit].Dim {
			return nil
		}
		unit = i
	}
	return all
}

// axisTexts reads a list, or a text that is a range, which it also returns as it is written.
func (s *sweeper) axisTexts(e entry, kind *workload.Kind) (items []item, written string, ok bool) {
	items, isList, whole := s.loader.listOf(e.expr, "axis "+e.name, strings.HasPrefix(e.name, "env."))
	if isList {
		return items, "", len(items) > 0 || whole
	}
	wrong := func(detail string) {
		hint := "Write a list, as [4KiB, 1MiB], or a range, as 4KiB..64MiB x2 or 1..8 +1."
		s.error(e.expr.Range(), "Not an axis", detail, hint)
	}
	if pairs, diags := hcl.ExprMap(e.expr); !diags.HasErrors() && pairs != nil {
		wrong(fmt.Sprintf("Axis %q is a mapping, not a list or a range.", e.name))
		return nil, "", false
	}
	text, ok := s.text(e.expr, "axis "+e.name)
	if !ok {
		return nil, "", false
	}
	if !strings.Contains(text, "..") {
		wrong(fmt.Sprintf("Axis %q has the single value %q.", e.name, text))
		return nil, "", false
	}
	if o, isOption := kind.Option(e.name); isOption && !o.Type.Numeric() {
		wrong(fmt.Sprintf("A range of %s is not possible: its values are not numbers.", e.name))
		return nil, "", false
	}
	texts, err := expandRange(text)
	if err != nil {
		s.error(e.expr.Range(), "Invalid range", err.Error()+".",
			"Ranges look like 4KiB..64MiB x2 (times 2 each) or 1..8 +1 (plus 1 each).")
		return nil, "", false
	}
	for _, t := range texts {
		items = append(items, item{text: t, at: e.expr.Range()})
	}
	return items, text, true
}

// warnUnmetEnd warns of a range that does not meet its end. In 4KiB..100KiB x3 the author may expect
// 100KiB to be measured.
func (s *sweeper) warnUnmetEnd(e entry, text string, values []item) {
	_, rest, _ := strings.Cut(text, "..")
	end, _, _, err := cutStep(rest)
	if err != nil || len(values) == 0 {
		return
	}
	last := values[len(values)-1].text
	asked, err1 := quantity.Parse(end)
	got, err2 := quantity.Parse(last)
	if err1 != nil || err2 != nil || math.Abs(asked.Value-got.Value) <= rangeSlack*math.Abs(asked.Value) {
		return
	}
	s.warn(e.expr.Range(), "Range ends early",
		fmt.Sprintf("The steps of axis %s do not reach %s exactly: its last value is %s.", e.name, end, last),
		fmt.Sprintf("End the range with %s, or list the values with %s among them.", last, end))
}

// axis reads one axis. An axis repeated in another branch of a concat is the same axis with more
// values.
func (s *sweeper) axis(e sweepEntry) *SweepNode {
	variable, isEnv := strings.CutPrefix(e.name, "env.")
	if !identifier().MatchString(variable) || !isEnv && (e.name == "env" || e.name == "host" || e.name == "axis") {
		s.error(e.at, "Invalid name", fmt.Sprintf("%q cannot be the name of an axis.", e.name),
			"An axis is named like an option, env.NAME, or by a word of your own for axis.NAME.")
		return nil
	}
	a := &Axis{Name: e.name, Range: e.at}
	if i, ok := s.index[e.name]; ok {
		a = s.run.Axes[i]
	} else {
		// An axis without values has been reported. It stays, so that uses of it are not reported
		// as well.
		s.index[e.name] = len(s.run.Axes)
		s.run.Axes = append(s.run.Axes, a)
	}
	n := &SweepNode{Op: AxisNode, Axis: s.index[e.name], Range: e.at}
	for _, v := range s.axisValues(entry{name: e.name, at: e.at, expr: e.expr}, s.run.Workload) {
		n.Values, n.Ranges = append(n.Values, s.add(a, v)), append(n.Ranges, v.Range)
	}
	return n
}

// add returns the index of a value in its axis, and adds the value if it is new.
func (s *sweeper) add(a *Axis, v AxisValue) int {
	key := valueKey{a, s.key(a, v)}
	i, ok := s.known[key]
	if !ok {
		i = len(a.Values)
		s.known[key] = i
		a.Values = append(a.Values, v)
	}
	return i
}

// key returns equal texts for equal values: 1 and 1.0 of an axis of the author's own are one value.
func (s *sweeper) key(a *Axis, v AxisValue) string {
	if n, ok := parseNumber(v.Text); ok && s.run.ownAxis(a) {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return v.Text
}

// ownAxis reports whether an axis has a name of the author's own: it sets neither an option nor a
// variable.
func (r *Run) ownAxis(a *Axis) bool {
	_, isOption := r.Workload.Option(a.Name)
	return !isOption && !strings.HasPrefix(a.Name, "env.")
}

// names returns the names that conditions of the run can use.
func (r *Run) names() *expression.Names {
	n := &expression.Names{Kind: r.Workload, Metrics: r.measured(), Run: r.Name, Partial: r.lacksAxes,
		Refused: r.refusedMetrics}
	if v := r.eval.variants; v != nil && len(v.baselines) > 0 {
		n.Baseline = cmp.Or(r.BaselineVariant(), v.baselines[0])
	}
	for _, a := range r.Axes {
		n.Axes = append(n.Axes, expression.Axis{
			Name: a.Name, Type: a.expressionType(), Dim: a.dimension(), Null: a.nullable(),
		})
	}
	return n
}

// expressionType returns the type of the axis in conditions and assertions.
func (a *Axis) expressionType() expression.AxisType {
	if len(a.Values) == 0 {
		return expression.Text
	}
	if _, ok := option.Number(a.Values[0].Value); ok {
		return expression.Number
	}
	if _, ok := a.Values[0].Value.(bool); ok {
		return expression.Flag
	}
	return expression.Text
}

// dimension returns the dimension of an axis of quantities.
func (a *Axis) dimension() quantity.Dimension {
	for _, v := range a.Values {
		if w, ok := v.Value.(quantity.Written); ok && w.Unit != "" {
			return w.Dim
		}
	}
	return quantity.Number
}

// nullable reports whether the axis leaves its variable unset at some points.
func (a *Axis) nullable() bool {
	return slices.ContainsFunc(a.Values, func(v AxisValue) bool { return v.Value == nil })
}

// itemHint is the hint for a wrong value of an axis.
func itemHint(name string, o option.Option, text string) string {
	if from, to, ok := strings.Cut(text, ".."); ok && from != "" && to != "" {
		return fmt.Sprintf("A range stands alone, not in a list: %s: %s x2.", name, text)
	}
	return valueHint(o, text)
}

// value reads one value of an axis.
func (s *sweeper) value(t item, name string, o option.Option, isOption bool) (AxisValue, bool) {
	v := AxisValue{Value: t.text, Text: t.text, Range: t.at}
	switch {
	case t.null:
		v.Value = nil
		return v, true
	case t.text == nullText && strings.HasPrefix(name, "env."):
		s.error(t.at, "Invalid value", fmt.Sprintf("Axis %s: the text %q would be read as null.", name, t.text),
			"Write null without quotes to leave the variable unset.")
		return v, false
	case !isOption:
		return v, true
	}
	parsed, err := o.Parse(t.text)
	if err != nil {
		s.error(t.at, "Invalid value", fmt.Sprintf("Axis %s: %v.", name, err), itemHint(name, o, t.text))
		return v, false
	}
	s.warnBareSize(o, t.at)
	v.Value, v.Text = parsed, option.Text(parsed)
	return v, true
}
