// Services of the scenario and of its runs.

package dsl

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/workload"
)

// servicesName is the key of services, and the option with the services of a run.
const servicesName = "services"

// serviceName is the option that names the service that a run uses.
const serviceName = "service"

// declaredServices reads the services of the file. Each run that uses them evaluates them at its
// own points.
func (l *loader) declaredServices(content *hcl.BodyContent) (all []entry) {
	for _, b := range content.Blocks {
		if b.Type != "service" {
			continue
		}
		name, at := b.Labels[0], b.LabelRanges[0]
		l.places.add(b.DefRange, "service "+name)
		if slices.ContainsFunc(all, func(e entry) bool { return e.name == name }) {
			l.error(at, "Duplicate service", fmt.Sprintf("Service %s was already given.", quote(name)),
				"Rename one of the two.")
			continue
		}
		own := l.content(b.Body, schemaOf(grammar.Service), "a service")
		m := &mappingExpression{at: at}
		for _, k := range grammar.Service {
			_, files := serviceFiles[k.Name]
			if files && hasKey(own, k.Name) {
				if keys := l.section(own, k.Name); len(keys) > 0 {
					m.add(k.Name, keys[0].at, mappingOf(l.withFiles(k.Name, keys)))
				} else {
					l.error(at, "Empty section", quote(k.Name)+" of a service is empty.", "Leave it out.")
				}
			} else if expr := argument(own, k.Name); expr != nil {
				m.add(k.Name, expr.Range(), expr)
			} else if inner := l.section(own, k.Name); len(inner) > 0 {
				m.add(k.Name, inner[0].at, mappingOf(inner))
			}
		}
		all = append(all, entry{name: name, at: at, expr: m})
	}
	return all
}

// servicesOf returns the services of a run as an entry of its options: those that it lists, or all
// if one of its options names a service. It returns false if there are none.
func (sr *settingReader) servicesOf(content *hcl.BodyContent, options []entry) (entry, bool) {
	for _, e := range options {
		if e.name == servicesName {
			sr.error(e.at, "Misplaced services", "services is not an option: it belongs to the scenario.",
				"Write services beside runs, and list the names of those it needs in the run.")
			return entry{}, false
		}
	}
	_, known := sr.run.Workload.Option(servicesName)
	mentioned := slices.ContainsFunc(options, func(e entry) bool {
		return e.name == serviceName || slices.ContainsFunc(e.expr.Variables(),
			func(t hcl.Traversal) bool { return t.RootName() == serviceName })
	})
	chosen := sr.services
	list := argument(content, servicesName)
	switch {
	case list != nil && !known: // a workload outside of package kinds
		sr.error(list.Range(), "No services",
			fmt.Sprintf("Launches of workload %s use no services.", sr.run.Workload.Name), "Leave the key out.")
		return entry{}, false
	case list != nil:
		chosen = sr.chosenServices(list)
	case !known || !mentioned:
		return entry{}, false
	}
	for _, e := range chosen {
		sr.loader.usedServices[e.name] = true
	}
	if len(chosen) == 0 {
		return entry{}, false // an option that names one is reported at its place
	}
	return entry{name: servicesName, at: chosen[0].at, expr: mappingOf(chosen)}, true
}

func (l *loader) chosenServices(list hcl.Expression) (chosen []entry) {
	names, isList, _ := l.list(list, "services of a run")
	if !isList {
		l.error(list.Range(), "Not a list", "services of a run is a list of their names.", "Write [NAME, NAME].")
	}
	for _, n := range names {
		i := slices.IndexFunc(l.services, func(e entry) bool { return e.name == n.text })
		switch {
		case i < 0:
			var known []string
			for _, e := range l.services {
				known = append(known, e.name)
			}
			l.error(n.at, "Unknown service", fmt.Sprintf("The file has no service %s.", quote(n.text)),
				suggest.Sentence(n.text, known, "services"))
		case !slices.ContainsFunc(chosen, func(e entry) bool { return e.name == n.text }):
			chosen = append(chosen, l.services[i])
		}
	}
	return chosen
}

// serviceChecker checks services outside of runs.
type serviceChecker struct{ *loader }

// unused checks the services that no run uses: each alone, and then all together, as they may wait for each other.
// Services that depend on the point of a run are left out.
func (l serviceChecker) unused() {
	unused := func(e entry) bool { return !l.usedServices[e.name] && !dependsOnPoint(e.expr) }
	before := len(l.diags)
	for i, e := range l.services {
		if unused(e) {
			l.check(i)
		}
	}
	if len(l.diags) == before && slices.ContainsFunc(l.services, unused) {
		l.check(-1)
	}
}

func dependsOnPoint(expr hcl.Expression) bool {
	return slices.ContainsFunc(expr.Variables(), func(t hcl.Traversal) bool {
		return t.RootName() == "axis" || t.RootName() == variantAxis
	})
}

// check checks the service of an index; the others are then programs without settings. -1 means all services.
func (l serviceChecker) check(only int) {
	program := cty.ObjectVal(map[string]cty.Value{"command": cty.TupleVal([]cty.Value{cty.StringVal("true")})})
	var all []entry
	for i, e := range l.services {
		if only >= 0 && i != only || dependsOnPoint(e.expr) {
			e.expr = hcl.StaticExpr(program, e.at)
		}
		all = append(all, e)
	}
	for _, kind := range workload.Kinds() {
		if o, ok := kind.Option(servicesName); ok {
			r := &Run{Workload: kind, eval: l.eval}
			l.settingsOf(r).setting(&Setting{Name: servicesName, Option: o, run: r, expr: mappingOf(all)})
			return
		}
	}
}

// mappingExpression is a mapping of expressions from different places of the file.
type mappingExpression struct {
	pairs []hcl.KeyValuePair
	at    hcl.Range
}

func mappingOf(entries []entry) *mappingExpression {
	m := &mappingExpression{at: entries[0].at}
	for _, e := range entries {
		m.add(e.name, e.at, e.expr)
	}
	return m
}

func (m *mappingExpression) add(name string, at hcl.Range, value hcl.Expression) {
	m.pairs = append(m.pairs, hcl.KeyValuePair{Key: hcl.StaticExpr(cty.StringVal(name), at), Value: value})
}

// ExprMap returns the pairs, for hcl.ExprMap.
func (m *mappingExpression) ExprMap() []hcl.KeyValuePair { return m.pairs }

// Value computes the mapping.
func (m *mappingExpression) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	all := map[string]cty.Value{}
	var diags hcl.Diagnostics
	for _, p := range m.pairs {
		key, _ := p.Key.Value(nil)
		v, more := p.Value.Value(ctx)
		all[key.AsString()] = v
		diags = append(diags, more...)
	}
	return cty.ObjectVal(all), diags
}

// Variables returns the references in all values.
func (m *mappingExpression) Variables() (all []hcl.Traversal) {
	for _, p := range m.pairs {
		all = append(all, p.Value.Variables()...)
	}
	return all
}

// Range is that of the first key.
func (m *mappingExpression) Range() hcl.Range { return m.at }

// StartRange is that of the first key.
func (m *mappingExpression) StartRange() hcl.Range { return m.at }
