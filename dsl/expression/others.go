package expression

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
)

// over returns a view of each case of an aggregate.
func (l *lowering) over(t *term, v view) ([]view, *Error) {
	if domain := t.domain(); domain != nil {
		return l.overOther(t, domain, v)
	}
	if v.group != nil && sameAxes(t.over, l.assertion.over) {
		views := make([]view, len(v.group))
		for i := range v.group {
			views[i] = view{one: &v.group[i], at: v.group[i].Texts}
		}
		return views, nil
	}
	var at map[string]string
	if len(t.over) > 0 {
		at = without(v.at, t.over)
	}
	if l.cases == nil {
		return nil, noCases(t)
	}
	var views []view
	for _, key := range l.cases.Find(l.assertion.names.Run, at, l.assertion.where) {
		s, ok := l.cases.Scope(key)
		if !ok {
			return nil, noCases(t)
		}
		views = append(views, view{one: &s, at: s.Texts})
	}
	return views, nil
}

// overOther returns the cases of another run that fit the known point. With named axes, they may
// differ only in these.
func (l *lowering) overOther(t *term, domain *otherRun, v view) ([]view, *Error) {
	if l.cases == nil {
		return nil, noCases(t)
	}
	keys := l.cases.Find(domain.name, without(v.at, t.over), domain.where)
	if len(keys) == 0 {
		return nil, l.noCaseError(t, domain, without(v.at, t.over))
	}
	if len(t.over) > 0 {
		stray := slices.DeleteFunc(l.differing(domain, keys),
			func(axis string) bool { return slices.Contains(t.over, axis) })
		if len(stray) > 0 {
			return nil, t.errorf("add it after over, or select cases: "+l.example(domain, keys[0], stray),
				"the cases of run %q also differ in %s", domain.name, strings.Join(stray, " and "))
		}
	}
	views := make([]view, len(keys))
	for i, key := range keys {
		views[i] = view{one: v.one, at: v.at, bound: key}
	}
	return views, nil
}

// single finds the one case of another run for a metric.
func (l *lowering) single(t *term, point map[string]string) (string, *Error) {
	at := point
	if l.cases == nil {
		return "", noCases(t)
	}
	if t.other.sibling {
		at = without(at, t.other.where.names)
	}
	keys := l.cases.Find(t.other.name, at, t.other.where)
	switch {
	case len(keys) == 0:
		return "", l.noCaseError(t, t.other, at)
	case len(keys) == 1 && keys[0] == l.ownKey:
		return "", t.errorf("exclude this case: add where "+l.exclusionHint(t.other, point),
			"the case would be compared with itself")
	case len(keys) == 1:
		return keys[0], nil
	}
	if t.other.sibling {
		return "", t.errorf("narrow the condition in at() to one case", "%d cases satisfy the condition: %s",
			len(keys), formatKeys(keys))
	}
	differing := l.differing(t.other, keys)
	hint := "choose one: " + l.example(t.other, keys[0], differing) + "." + t.metric +
		fmt.Sprintf(", or aggregate them: max(run(%q).%s)", t.other.name, t.metric)
	return "", t.errorf(hint,
		"run %q has %d cases for this one; they differ in %s", t.other.name, len(keys),
		strings.Join(differing, " and "))
}

// exclusionHint is a condition that excludes the case at a point by one of its axes.
func (l *lowering) exclusionHint(other *otherRun, at map[string]string) string {
	if other.where != nil {
		for _, name := range other.where.names {
			if text, ok := at[name]; ok {
				return name + " != " + other.names.literal(name, text)
			}
		}
	}
	return "with a condition"
}

// noCaseError explains that no case of another run fits.
func (l *lowering) noCaseError(t *term, other *otherRun, at map[string]string) *Error {
	var sought []string
	for _, axis := range other.names.Axes {
		if text, ok := at[axis.Name]; ok {
			sought = append(sought, axis.Name+"="+text)
		}
	}
	message := fmt.Sprintf("the run %q has no case", other.name)
	if len(sought) > 0 {
		message += " with " + strings.Join(sought, ", ")
	}
	if other.where != nil {
		message += " that satisfies " + other.where.text
	}
	all := l.cases.Find(other.name, nil, nil)
	if len(all) == 0 {
		return t.errorf("check its sweep and exclusions", "the run %q has no cases", other.name)
	}
	hint := fmt.Sprintf("select cases with where, or add this point to run %q. It has %s", other.name, formatKeys(all))
	return t.errorf(hint, "%s", message)
}

// maxShown is how many cases a message lists.
const maxShown = 3

func formatKeys(keys []string) string {
	if len(keys) > maxShown {
		return strings.Join(keys[:maxShown], ", ") + fmt.Sprintf(" and %d more", len(keys)-maxShown)
	}
	return strings.Join(keys, ", ")
}

// differing returns the axes of a run in which some of its cases differ.
func (l *lowering) differing(other *otherRun, keys []string) []string {
	first, ok := l.cases.Scope(keys[0])
	if !ok {
		return nil
	}
	var differing []string
	for _, axis := range other.names.Axes {
		if slices.ContainsFunc(keys[1:], func(key string) bool {
			s, ok := l.cases.Scope(key)
			return ok && s.Texts[axis.Name] != first.Texts[axis.Name]
		}) {
			differing = append(differing, axis.Name)
		}
	}
	return differing
}

// example returns run("NAME", CONDITION), with some axes fixed to the values of a case.
func (l *lowering) example(other *otherRun, key string, axes []string) string {
	s, _ := l.cases.Scope(key)
	var conditions []string
	if other.where != nil {
		conditions = append(conditions, other.where.text)
	}
	for _, axis := range axes {
		conditions = append(conditions, axis+" == "+other.names.literal(axis, s.Texts[axis]))
	}
	return fmt.Sprintf("run(%q, %s)", other.name, strings.Join(conditions, " and "))
}

// literal formats a value of an axis for a condition.
func (n *Names) literal(axis, text string) string {
	if o, ok := n.Kind.Option(axis); ok {
		if o.Type.Numeric() || o.Type == option.Bool {
			return text
		}
		return quoted(text)
	}
	if a, ok := n.axis(axis); ok && a.Type != Text {
		return text
	}
	return quoted(text)
}

func noCases(t *term) *Error {
	return t.errorf("", "there are no other cases to look in")
}

// without removes axes from a point.
func without(at map[string]string, axes []string) map[string]string {
	if len(axes) == 0 {
		return at
	}
	out := maps.Clone(at)
	for _, axis := range axes {
		delete(out, axis)
	}
	return out
}

func sameAxes(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(axis string) bool { return !slices.Contains(b, axis) })
}
