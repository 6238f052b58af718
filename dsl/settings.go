package dsl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"weir/dsl/suggest"
	"weir/workload"
)

// setting is an option or an environment variable of a run. One that does not
// depend on the point has its value; the others keep their expression.
type setting struct {
	name    string
	option  workload.Option // of an option
	isEnv   bool
	own     bool // set by the run itself, not by the defaults
	expr    hcl.Expression
	onPoint bool
	value   any // if not onPoint
}

// settings reads options and env of a run, its own before the defaults.
func (l *loader) settings(content *hcl.BodyContent, r *Run, d defaults) {
	given := map[string]bool{}
	own := l.section(content, "options")
	for _, e := range own {
		given[e.name] = true
	}
	entries := own
	for _, e := range d.options[r.Workload.Name] {
		if !given[e.name] {
			entries = append(entries, e)
		}
	}
	mentioned := map[string]bool{}
	for i, e := range entries {
		o, ok := r.Workload.Option(e.name)
		if !ok {
			if i < len(own) {
				l.unknownOption(r.Workload, e)
			}
			continue
		}
		if a := r.axis(e.name); a != nil {
			if i < len(own) {
				l.error(e.at, "Option and axis", fmt.Sprintf("Option %q is also an axis of the sweep on line %d, which sets it.", e.name, a.Range.Start.Line), "Keep one of the two.")
			}
			continue
		}
		if s := l.setting(&setting{name: e.name, option: o, expr: e.expr, own: i < len(own)}, r, mentioned); s != nil {
			r.options = append(r.options, s)
		}
	}
	l.environment(content, r, d, mentioned)
	l.required(r, entries)
	for _, a := range r.Axes {
		_, isOption := r.Workload.Option(a.Name)
		if isOption || strings.HasPrefix(a.Name, "env.") || mentioned[a.Name] {
			continue
		}
		near := ""
		if n := suggest.Nearest(a.Name, optionNames(r.Workload)); n != "" {
			near = fmt.Sprintf("Did you mean %q? ", n)
		}
		l.error(a.Range, "Axis without effect", fmt.Sprintf("Workload %s has no option %q, and neither options nor env of the run use axis.%s.", r.Workload.Name, a.Name, a.Name),
			near+"An axis sets the option of its name, env.NAME sets a variable, and any other is used as axis.NAME.")
	}
}

func optionNames(k *workload.Kind) []string {
	var names []string
	for _, o := range k.Options {
		names = append(names, o.Name)
	}
	return names
}

func (l *loader) environment(content *hcl.BodyContent, r *Run, d defaults, mentioned map[string]bool) {
	own := l.section(content, "env")
	given := map[string]bool{}
	for _, e := range own {
		given[e.name] = true
	}
	entries := own
	for _, e := range d.env {
		if !given[e.name] {
			entries = append(entries, e)
		}
	}
	for i, e := range entries {
		if !identifier.MatchString(e.name) {
			l.error(e.at, "Invalid name", fmt.Sprintf("%q is not the name of an environment variable.", e.name), "Use letters, digits and _.")
			continue
		}
		if a := r.axis("env." + e.name); a != nil {
			if i < len(own) {
				l.error(e.at, "Variable and axis", fmt.Sprintf("%s is also set by axis env.%s on line %d.", e.name, e.name, a.Range.Start.Line), "Keep one of the two.")
			}
			continue
		}
		if s := l.setting(&setting{name: e.name, isEnv: true, expr: e.expr}, r, mentioned); s != nil {
			r.env = append(r.env, s)
		}
	}
	slices.SortFunc(r.env, func(a, b *setting) int { return cmp.Compare(a.name, b.name) })
}

// setting checks one value, and computes it if it is the same at every point.
func (l *loader) setting(s *setting, r *Run, mentioned map[string]bool) *setting {
	names := []string{}
	unknown := map[string]cty.Value{}
	for _, a := range r.Axes {
		names = append(names, a.Name)
		unknown[a.Name] = cty.DynamicVal
		if len(a.Values) > 0 {
			unknown[a.Name] = cty.UnknownVal(ctyOf(a.Values[0].Value).Type())
		}
	}
	var diags hcl.Diagnostics
	s.onPoint, diags = l.eval.references(s.expr, names)
	if diags.HasErrors() {
		l.diags = append(l.diags, diags...)
		return nil
	}
	if !s.onPoint {
		v, diags := s.evaluate(l.eval, nil)
		l.diags = append(l.diags, diags...)
		s.value = v
		return s
	}
	for _, t := range s.expr.Variables() {
		if t.RootName() == "axis" && len(t) > 1 {
			switch step := t[1].(type) {
			case hcl.TraverseAttr:
				mentioned[step.Name] = true
			case hcl.TraverseIndex:
				mentioned[step.Key.AsString()] = true
			}
		}
	}
	// With unknown axes, wrong types and functions show before any point does.
	if _, diags := s.expr.Value(l.eval.context(s.expr, unknown)); diags.HasErrors() {
		l.diags = append(l.diags, explain(diags)...)
		return nil
	}
	return s
}

// required reports options that have no default and that nothing sets.
func (l *loader) required(r *Run, entries []entry) {
	for _, o := range r.Workload.Options {
		given := r.axis(o.Name) != nil
		for _, e := range entries {
			_, known := r.Workload.Option(e.name)
			// A misspelt option has been reported, with this one as advice.
			given = given || e.name == o.Name || !known && suggest.Nearest(e.name, optionNames(r.Workload)) == o.Name
		}
		if o.Required && !given {
			l.error(r.Range, "Missing option", fmt.Sprintf("Run %q sets no %s (%s), which workload %s cannot do without.", r.Name, o.Name, o.Doc, r.Workload.Name),
				fmt.Sprintf("Add %s to its options, or sweep it.", o.Name))
		}
	}
}

func (r *Run) axis(name string) *Axis {
	for _, a := range r.Axes {
		if a.Name == name {
			return a
		}
	}
	return nil
}
