// Services that variants change.

package dsl

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/workload"
)

// changedService is a service with the keys that a variant sets.
type changedService struct {
	name string
	at   hcl.Range
	keys []entry
}

// mergedKeys are the mappings of a service that a variant adds to. A variant replaces all other
// keys.
var mergedKeys = []string{"env", "metrics", "kubernetes", "helm", "tunnel"}

// services reads the services of a variant.
func (vr *variantReader) services(variant string, expr hcl.Expression) (all []changedService) {
	var names []string
	for _, e := range vr.loader.services {
		names = append(names, e.name)
	}
	var known []string
	for _, k := range grammar.Service {
		known = append(known, k.Name)
	}
	for _, e := range vr.mapping(expr, variantService) {
		if !slices.Contains(names, e.name) {
			vr.error(e.at, "Unknown service",
				fmt.Sprintf("The file has no service %s, which variant %s changes.", quote(e.name), quote(variant)),
				suggest.Sentence(e.name, names, "services"))
			continue
		}
		c := changedService{name: e.name, at: e.at}
		for _, k := range vr.mapping(e.expr, e.name) {
			if !slices.Contains(known, k.name) {
				vr.error(k.at, "Unknown key", fmt.Sprintf("A service has no %s.", quote(k.name)),
					suggest.Sentence(k.name, known, "keys"))
				continue
			}
			if _, files := serviceFiles[k.name]; files && isMapping(k.expr) {
				if inner := vr.mapping(k.expr, k.name); len(inner) > 0 {
					k.expr = mappingOf(vr.withFiles(k.name, inner))
				}
			}
			c.keys = append(c.keys, k)
		}
		all = append(all, c)
	}
	return all
}

// withKeys returns a service with the keys of a variant; mappings in unitedKeys are merged.
func (d *decoder) withKeys(service entry, keys []entry) entry {
	m := &mappingExpression{at: service.at}
	own := d.mapping(service.expr, service.name)
	for _, k := range own {
		i := slices.IndexFunc(keys, func(e entry) bool { return e.name == k.name })
		switch {
		case i < 0:
		case slices.Contains(mergedKeys, k.name) && isMapping(k.expr) && isMapping(keys[i].expr):
			k = d.withKeys(k, d.mapping(keys[i].expr, k.name))
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

// servicesOfVariants makes the services of a run depend on the variant where variants change them.
func (sr *settingReader) servicesOfVariants(entries []entry) {
	own := sr.byName[servicesName]
	i := slices.IndexFunc(entries, func(e entry) bool { return e.name == servicesName })
	if own == nil || i < 0 || sr.variants == nil || sr.run.axis(variantAxis) == nil {
		return
	}
	follows := Setting{
		Name:      servicesName,
		Option:    own.Option,
		run:       sr.run,
		otherwise: own,
		variants:  map[string]*Setting{},
	}
	axis := sr.run.axisIndex(variantAxis)
	follows.Axes = append([]int{axis}, own.Axes...)
	services := sr.mapping(entries[i].expr, servicesName)
	for _, v := range sr.variants.rows {
		var all []entry
		any := false
		for _, s := range services {
			for _, c := range v.services {
				if c.name == s.name {
					s, any = sr.withKeys(s, c.keys), true
				}
			}
			all = append(all, s)
		}
		if !any {
			continue
		}
		s := sr.setting(&Setting{Name: servicesName, Option: own.Option, run: sr.run, expr: mappingOf(all)})
		if s == nil {
			return // reported
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
	sr.byName[servicesName] = &follows
	sr.used[variantAxis] = true
}

// mergeVariantMetrics returns the metrics of all variants that a run sweeps, those of the first variant
// first. A metric must be the same in all variants that have it.
func (l *loader) mergeVariantMetrics(r *Run, first []workload.Metric,
	measured func(option.Values) ([]workload.Metric, error)) ([]workload.Metric, error) {
	i := slices.IndexFunc(r.settings, func(s *Setting) bool { return s.variants != nil })
	if i < 0 {
		return first, nil
	}
	all := slices.Clone(first)
	for _, v := range r.axis(variantAxis).Values[1:] {
		values, diags := r.optionsAtFirstPoint(v)
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
