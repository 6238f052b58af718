package dsl

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/expression"
	"weir/quantity"
	"weir/workload"
)

// axisValues reads a list or a range as values of what the axis sets.
func (s *sweeper) axisValues(e entry, kind *workload.Kind) []AxisValue {
	if e.expr == nil {
		s.error(e.at, "Not an axis", fmt.Sprintf("Axis %q is written as a block.", e.name),
			"Write its values after an equals sign: "+e.name+" = […].")
		return nil
	}
	texts, ok := s.axisTexts(e, kind)
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
	for _, t := range texts {
		if v, ok := s.value(t, e.name, o, isOption); ok {
			values = append(values, v)
		}
	}
	return values
}

// inferType gives an axis of the author's own the type that all of its values have.
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

// writtenQuantities are values that are all of one dimension, with units; nil: they are not.
func writtenQuantities(values []AxisValue) []quantity.Written {
	all := make([]quantity.Written, len(values))
	unit := -1
	for i, v := range values {
		var err error
		if all[i], err = quantity.ReadWritten(v.Text); err != nil {
			return nil
		}
		if all[i].Unit == "" { // 0 is of each dimension
			continue
		}
		if unit >= 0 && all[i].Dim != all[unit].Dim {
			return nil
		}
		unit = i
	}
	return all
}

// axisTexts reads a list, or a text that is a range.
func (s *sweeper) axisTexts(e entry, kind *workload.Kind) ([]item, bool) {
	items, isList, whole := s.loader.listOf(e.expr, "axis "+e.name, strings.HasPrefix(e.name, "env."))
	if isList {
		if len(items) > maxValues {
			s.error(e.expr.Range(), "Too many values",
				fmt.Sprintf("Axis %q has %d values; the most is %d.", e.name, len(items), maxValues), "")
			return nil, false
		}
		return items, len(items) > 0 || whole
	}
	wrong := func(detail string) {
		hint := "Write a list, as [4KiB, 1MiB], or a range, as 4KiB..64MiB x2 or 1..8 +1."
		s.error(e.expr.Range(), "Not an axis", detail, hint)
	}
	if pairs, diags := hcl.ExprMap(e.expr); !diags.HasErrors() && pairs != nil {
		wrong(fmt.Sprintf("The values of axis %q are not a mapping.", e.name))
		return nil, false
	}
	text, ok := s.text(e.expr, "axis "+e.name)
	if !ok {
		return nil, false
	}
	if !strings.Contains(text, "..") {
		wrong(fmt.Sprintf("Axis %q has the single value %q.", e.name, text))
		return nil, false
	}
	if o, isOption := kind.Option(e.name); isOption && !o.Type.Numeric() {
		wrong(fmt.Sprintf("Values of %s cannot be counted through.", e.name))
		return nil, false
	}
	texts, err := expandRange(text)
	if err != nil {
		s.error(e.expr.Range(), "Invalid range", err.Error()+".",
			"Ranges look like 4KiB..64MiB x2 (times 2 each) or 1..8 +1 (plus 1 each).")
		return nil, false
	}
	s.endsEarly(e, text, texts)
	for _, t := range texts {
		items = append(items, item{text: t, at: e.expr.Range()})
	}
	return items, true
}

// endsEarly warns of a range whose last value is not the end that was asked for: who wrote
// 4KiB..100KiB x3 may believe that 100KiB is measured.
func (s *sweeper) endsEarly(e entry, text string, values []string) {
	_, rest, _ := strings.Cut(text, "..")
	end, _, _, err := cutStep(rest)
	if err != nil || len(values) == 0 {
		return
	}
	last := values[len(values)-1]
	asked, err1 := quantity.Parse(end)
	got, err2 := quantity.Parse(last)
	if err1 != nil || err2 != nil || math.Abs(asked.Value-got.Value) <= rangeSlack*math.Abs(asked.Value) {
		return
	}
	d := diagnostic(e.expr.Range(), "Range ends early",
		fmt.Sprintf("The steps of axis %s do not meet %s: its last value is %s.", e.name, end, last),
		fmt.Sprintf("End the range with %s, or list the values with %s among them.", last, end))
	d.Severity = hcl.DiagWarning
	s.diags = append(s.diags, d)
}

// axis reads one axis. Mentioned again, in another branch of a concat, it is the
// same axis with more values.
func (s *sweeper) axis(e sweepEntry) *SweepNode {
	variable, isEnv := strings.CutPrefix(e.name, "env.")
	if !identifier.MatchString(variable) || !isEnv && (e.name == "env" || e.name == "host" || e.name == "axis") {
		s.error(e.at, "Invalid name", fmt.Sprintf("%q cannot be the name of an axis.", e.name),
			"An axis is named like an option, env.NAME, or by a word of your own for axis.NAME.")
		return nil
	}
	a := &Axis{Name: e.name, Range: e.at}
	if i, ok := s.index[e.name]; ok {
		a = s.run.Axes[i]
	} else {
		// An axis without values has been reported; it stays, so that what
		// mentions it is not reported as well.
		if len(s.run.Axes) == maxAxes {
			s.tooMany(e.at, fmt.Sprintf("The sweep has more than %d axes.", maxAxes))
			return nil
		}
		s.index[e.name] = len(s.run.Axes)
		s.run.Axes = append(s.run.Axes, a)
	}
	if s.all.values > maxAllValues {
		return nil
	}
	values := s.axisValues(entry{name: e.name, at: e.at, expr: e.expr}, s.run.Workload)
	if s.all.values += len(values); s.all.values > maxAllValues {
		s.tooMany(e.at, fmt.Sprintf("The axes of the scenario have more than %d values in all.", maxAllValues))
		return nil
	}
	n := &SweepNode{Op: AxisNode, Axis: s.index[e.name], Range: e.at}
	for _, v := range values {
		n.Values, n.Ranges = append(n.Values, s.add(a, v)), append(n.Ranges, v.Range)
	}
	return n
}

// tooMany refuses a sweep once, not for each of many axes.
func (s *sweeper) tooMany(at hcl.Range, detail string) {
	if !s.excessive {
		s.excessive = true
		s.error(at, "Sweep too large", detail, "Divide it between scenarios, or combine axes by zip.")
	}
}

// add gives the index of a value in its axis, to which it may be new.
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

// key is equal for equal values: 1 and 1.0 of an axis of the author's own are one.
func (s *sweeper) key(a *Axis, v AxisValue) string {
	if n, ok := parseNumber(v.Text); ok && s.run.ownAxis(a) {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return v.Text
}

// ownAxis says whether an axis sets neither an option nor a variable by its name.
func (r *Run) ownAxis(a *Axis) bool {
	_, isOption := r.Workload.Option(a.Name)
	return !isOption && !strings.HasPrefix(a.Name, "env.")
}

// names are what conditions of the run may mention.
func (r *Run) names() *expression.Names {
	n := &expression.Names{Kind: r.Workload, Metrics: r.measured(), Run: r.Name}
	if v := r.eval.variants; v != nil {
		n.Baseline = v.baseline
	}
	for _, a := range r.Axes {
		n.Axes = append(n.Axes, expression.Axis{
			Name: a.Name, Type: a.expressionType(), Dim: a.dimension(), Null: a.nullable(),
		})
	}
	return n
}

// expressionType is how conditions and assertions see the values of the axis.
func (a *Axis) expressionType() expression.AxisType {
	if len(a.Values) == 0 {
		return expression.Text
	}
	if _, ok := workload.Number(a.Values[0].Value); ok {
		return expression.Number
	}
	if _, ok := a.Values[0].Value.(bool); ok {
		return expression.Flag
	}
	return expression.Text
}

// dimension is that of the values of an axis that are quantities.
func (a *Axis) dimension() quantity.Dimension {
	for _, v := range a.Values {
		if w, ok := v.Value.(quantity.Written); ok && w.Unit != "" {
			return w.Dim
		}
	}
	return quantity.Number
}

// nullable says whether the axis leaves its variable unset at some points.
func (a *Axis) nullable() bool {
	return slices.ContainsFunc(a.Values, func(v AxisValue) bool { return v.Value == nil })
}

// value reads one value as what the axis sets.
func (s *sweeper) value(t item, name string, o workload.Option, isOption bool) (AxisValue, bool) {
	v := AxisValue{Value: t.text, Text: t.text, Range: t.at}
	switch {
	case t.null:
		v.Value = nil
		return v, true
	case t.text == nullText && strings.HasPrefix(name, "env."):
		s.error(t.at, "Invalid value", fmt.Sprintf("Axis %s: the text %q cannot be told from null.", name, t.text),
			"Write null without quotes to leave the variable unset.")
		return v, false
	case !isOption:
		return v, true
	}
	parsed, err := o.Parse(t.text)
	if err != nil {
		s.error(t.at, "Invalid value", fmt.Sprintf("Axis %s: %v.", name, err), valueHint(o, t.text))
		return v, false
	}
	v.Value, v.Text = parsed, workload.Text(parsed)
	return v, true
}
