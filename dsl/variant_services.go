package dsl

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/grammar"
	"weir/suggest"
	"weir/workload"
)

// changedService is a service with the keys that a variant gives it.
type changedService struct {
	name string
	at   hcl.Range
	keys []entry
}

// unitedKeys are those of a service whose mapping a variant adds to; it replaces any other.
var unitedKeys = []string{"env", "metrics", "kubernetes", "helm", "tunnel"}

// changedServices reads the services of a variant.
func (l *loader) changedServices(variant string, expr hcl.Expression) (all []changedService) {
	var names []string
	for _, e := range l.services {
		names = append(names, e.name)
	}
	var known []string
	for _, k := range grammar.Service {
		known = append(known, k.Name)
	}
	for _, e := range l.mapping(expr, variantService) {
		if !slices.Contains(names, e.name) {
			l.error(e.at, "Unknown service",
				fmt.Sprintf("The file has no service %s, of which variant %s speaks.", quote(e.name), quote(variant)),
				suggest.Sentence(e.name, names, "services"))
			continue
		}
		c := changedService{name: e.name, at: e.at}
		for _, k := range l.mapping(e.expr, e.name) {
			if !slices.Contains(known, k.name) {
				l.error(k.at, "Unknown key", fmt.Sprintf("A service has no %s.", quote(k.name)),
					suggest.Sentence(k.name, known, "keys"))
				continue
			}
			if _, files := serviceFiles[k.name]; files && isMapping(k.expr) {
				if inner := l.mapping(k.expr, k.name); len(inner) > 0 {
					k.expr = mappingOf(l.withFiles(k.name, inner))
				}
			}
			c.keys = append(c.keys, k)
		}
		all = append(all, c)
	}
	return all
}

// changed is a service with the keys of a variant: mappings of unitedKeys have those of both.
func (l *loader) changed(service entry, keys []entry) entry {
	m := &mappingExpression{at: service.at}
	own := l.mapping(service.expr, service.name)
	for _, k := range own {
		i := slices.IndexFunc(keys, func(e entry) bool { return e.name == k.name })
		switch {
		case i < 0:
		case slices.Contains(unitedKeys, k.name) && isMapping(k.expr) && isMapping(keys[i].expr):
			k = l.changed(k, l.mapping(keys[i].expr, k.name))
		default:
			k = keys[i]
		}
		m.add(k.name, k.at, k.expr)
	}
	for _, k := range keys {
		if !slices.ContainsFunc(own, func(e entry) bool { return e.name == k.name }) {
			m.add(k.name, k.at, k.expr)
		}
	}
	return entry{name: service.name, at: service.at, expr: m}
}

// servicesOfVariants has the services of a run follow the variant where variants change them.
func (l *loader) servicesOfVariants(r *Run, byName map[string]*Setting, entries []entry, used map[string]bool) {
	own := byName[servicesName]
	i := slices.IndexFunc(entries, func(e entry) bool { return e.name == servicesName })
	if own == nil || i < 0 || l.variants == nil || r.axis(variantAxis) == nil {
		return
	}
	follows := Setting{Name: servicesName, Option: own.Option, run: r, otherwise: own, variants: map[string]*Setting{}}
	axis := r.axisIndex(variantAxis)
	follows.Axes = append([]int{axis}, own.Axes...)
	services := l.mapping(entries[i].expr, servicesName)
	for _, v := range l.variants.rows {
		var all []entry
		any := false
		for _, s := range services {
			for _, c := range v.services {
				if c.name == s.name {
					s, any = l.changed(s, c.keys), true
				}
			}
			all = append(all, s)
		}
		if !any {
			continue
		}
		s := l.setting(&Setting{Name: servicesName, Option: own.Option, run: r, expr: mappingOf(all)}, used)
		if s == nil {
			return // which has been reported
		}
		follows.variants[v.name] = s
		follows.Axes = append(follows.Axes, s.Axes...)
	}
	if len(follows.variants) == 0 {
		return
	}
	slices.Sort(follows.Axes)
	follows.Axes = slices.Compact(follows.Axes)
	follows.item = slices.Index(follows.Axes, axis)
	byName[servicesName] = &follows
	used[variantAxis] = true
}

// unitedMetrics are those of all variants that a run sweeps, the first one's first. A metric of several
// is the same in all of them.
func (l *loader) unitedMetrics(r *Run, first []workload.Metric,
	measured func(workload.Values) ([]workload.Metric, error)) ([]workload.Metric, error) {
	i := slices.IndexFunc(r.settings, func(s *Setting) bool { return s.variants != nil })
	if i < 0 {
		return first, nil
	}
	all := slices.Clone(first)
	for _, v := range r.axis(variantAxis).Values[1:] {
		values, diags := r.atFirst(v)
		if values == nil || diags.HasErrors() {
			l.diags = append(l.diags, diags...)
			return first, nil
		}
		more, err := measured(values)
		if err != nil {
			return nil, err
		}
		for _, m := range more {
			j := slices.IndexFunc(all, func(o workload.Metric) bool { return o.Name == m.Name })
			switch {
			case j < 0:
				all = append(all, m)
			case all[j].Unit != m.Unit || all[j].Better != m.Better:
				return nil, fmt.Errorf("metric %s of variant %s has another unit or direction than that of others",
					m.Name, v.Text)
			}
		}
	}
	return all, nil
}
