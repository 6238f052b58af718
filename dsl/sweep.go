package dsl

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/expression"
	"weir/workload"
)

// maxPoints bounds the values of an axis, and the points at which a run is tried
// while it is read; the planner refuses runs with more.
const maxPoints = 10_000

// reserved are the keys of a sweep that are no axes.
var reserved = map[string]bool{"zip": true, "product": true, "concat": true, "exclude": true, "include": true, "order": true, "max_cases": true}

// sweep reads the axes of a run, in file order.
func (l *loader) sweep(content *hcl.BodyContent, r *Run) []*Axis {
	var axes []*Axis
	for _, e := range l.section(content, "sweep") {
		if reserved[e.name] {
			l.error(e.at, "Unknown key", fmt.Sprintf("This version of weir has no %q in a sweep.", e.name), "Name axes; those of one sweep multiply.")
			continue
		}
		variable, isEnv := strings.CutPrefix(e.name, "env.")
		if !identifier.MatchString(variable) || !isEnv && (e.name == "env" || e.name == "host" || e.name == "axis") {
			l.error(e.at, "Invalid name", fmt.Sprintf("%q cannot be the name of an axis.", e.name), "An axis is named like an option, env.NAME, or by a word of your own for axis.NAME.")
			continue
		}
		a := &Axis{Name: e.name, Range: e.at}
		a.Values = l.axisValues(e, r.Workload, isEnv)
		l.distinct(a)
		// An axis without values has been reported; it stays, so that what
		// mentions it is not reported as well.
		axes = append(axes, a)
	}
	return axes
}

// points is the number of points of the run, 0 if an axis is empty or there are
// more than are worth trying.
func (r *Run) points() int {
	n := 1
	for _, a := range r.Axes {
		if n *= len(a.Values); n > maxPoints {
			return 0
		}
	}
	return n
}

// axisValues reads a list or a range as values of what the axis sets.
func (l *loader) axisValues(e entry, kind *workload.Kind, isEnv bool) []AxisValue {
	texts, ok := l.axisTexts(e, kind)
	if !ok {
		return nil
	}
	if len(texts) == 0 {
		l.error(e.expr.Range(), "Empty axis", fmt.Sprintf("Axis %q has no values, so nothing would run.", e.name), "Give it values, or remove it.")
		return nil
	}
	o, isOption := kind.Option(e.name)
	var values []AxisValue
	for _, t := range texts {
		v := AxisValue{Value: t.text, Text: t.text, Range: t.at}
		if isOption {
			parsed, err := o.Parse(t.text)
			if err != nil {
				l.error(t.at, "Invalid value", fmt.Sprintf("Axis %s: %v.", e.name, err), "")
				continue
			}
			v.Value, v.Text = parsed, workload.Text(parsed)
		}
		values = append(values, v)
	}
	if !isOption && !isEnv {
		inferType(values)
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
	for i, v := range values {
		switch {
		case numbers:
			values[i].Value, _ = parseNumber(v.Text)
		case flags:
			values[i].Value = v.Text == "true"
		}
	}
}

// axisTexts reads a list, or a text that is a range.
func (l *loader) axisTexts(e entry, kind *workload.Kind) ([]item, bool) {
	items, isList, whole := l.list(e.expr, "axis "+e.name)
	if isList {
		if len(items) > maxPoints {
			l.error(e.expr.Range(), "Too many values", fmt.Sprintf("Axis %q has %d values; the most is %d.", e.name, len(items), maxPoints), "")
			return nil, false
		}
		return items, len(items) > 0 || whole
	}
	wrong := func(detail string) {
		hint := "Write a list, as [4KiB, 1MiB], or a range, as 4KiB..64MiB x2 or 1..8 +1."
		l.error(e.expr.Range(), "Not an axis", detail, hint)
	}
	if pairs, diags := hcl.ExprMap(e.expr); !diags.HasErrors() && pairs != nil {
		wrong(fmt.Sprintf("The values of axis %q are not a mapping.", e.name))
		return nil, false
	}
	text, ok := l.text(e.expr, "axis "+e.name)
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
		l.error(e.expr.Range(), "Invalid range", err.Error()+".", "Ranges look like 4KiB..64MiB x2 (times 2 each) or 1..8 +1 (plus 1 each).")
		return nil, false
	}
	for _, t := range texts {
		items = append(items, item{t, e.expr.Range()})
	}
	return items, true
}

// distinct refuses equal values, which would give two cases one key.
func (l *loader) distinct(a *Axis) {
	seen := map[string]bool{}
	for _, v := range a.Values {
		key := v.Text
		if n, ok := v.Value.(float64); ok {
			key = workload.Text(n)
		}
		if seen[key] {
			l.error(v.Range, "Duplicate value", fmt.Sprintf("Axis %q already has the value %s.", a.Name, v.Text), "Remove one of the two.")
			return
		}
		seen[key] = true
	}
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
