// Hints about keys that belong in another section.

package dsl

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/workload"
)

// keySection is a section of a scenario, and how an author writes a text inside it.
type keySection struct {
	keys   []grammar.Key
	around func(inner string) string
}

// deepestSection is how many sections deep a key is looked for.
const deepestSection = 3

// placesOf returns where a key belongs below a section with the keys `from`, as an author writes it: the least deep
// sections with the key, in the order of the grammar with runs and defaults first.
func (d *decoder) placesOf(name string, from []grammar.Key) (places []string) {
	level := []keySection{{from, func(inner string) string { return inner }}}
	for range deepestSection {
		var below []keySection
		for _, s := range level {
			if k, ok := grammar.Find(s.keys, name); ok {
				places = append(places, s.around(d.keyText(k)))
			}
			below = append(below, d.sectionsIn(s)...)
		}
		if places != nil {
			return places
		}
		level = below
	}
	return nil
}

// sectionsIn returns the sections that the keys of a section hold.
func (d *decoder) sectionsIn(s keySection) (out []keySection) {
	first := func(k grammar.Key) int { return slices.Index([]string{"defaults", "runs"}, k.Name) }
	keys := slices.Clone(s.keys)
	slices.SortStableFunc(keys, func(a, b grammar.Key) int { return cmp.Compare(first(b), first(a)) })
	for _, k := range keys {
		if f, ok := k.Form(grammar.Named); ok {
			out = append(out, keySection{f.Keys, func(inner string) string {
				return s.around(d.inSyntax(k.Name+": {NAME: {"+inner+"}}", k.Singular+" \"NAME\" { "+inner+" }"))
			}})
		}
		if f, ok := k.Form(grammar.List); ok {
			for _, item := range f.Item {
				if item.Shape == grammar.Section {
					out = append(out, keySection{item.Keys, func(inner string) string {
						return s.around(d.inSyntax(k.Name+": [{"+inner+"}]", k.Name+" = [{ "+inner+" }]"))
					}})
				}
			}
		}
		if f, ok := k.Form(grammar.Section); ok {
			out = append(out, keySection{f.Keys, func(inner string) string {
				return s.around(d.inSyntax(k.Name+": {"+inner+"}", k.Name+" { "+inner+" }"))
			}})
		}
	}
	return out
}

// keyText is a key with a value that is left out.
func (d *decoder) keyText(k grammar.Key) string {
	_, named := k.Form(grammar.Named)
	s := schemaOf([]grammar.Key{k})
	switch {
	case d.yaml:
		return k.Name + ": …"
	case named:
		return k.Singular + " \"NAME\" { … }"
	case len(s.sections) > 0:
		return k.Name + " { … }"
	}
	return k.Name + " = …"
}

// isScenarioOrRun reports whether the schema is that of a scenario or a run, where keys of other sections are written
// by mistake.
func (s schema) isScenarioOrRun() bool {
	_, scenario := grammar.Find(s.keys, "runs")
	_, run := grammar.Find(s.keys, "workload")
	return scenario || run
}

// environmentName matches what is surely the name of an environment variable of a library: UCX_TLS, FI_PROVIDER.
var environmentName = regexp.MustCompile(`^[A-Z][A-Z0-9]*_[A-Z0-9_]+$`)

// elsewhere is the hint about a key that does not belong in a section with the keys `here`, but in another one, or is
// an option of a workload; "" if none has it.
func (d *decoder) elsewhere(name string, here []grammar.Key) string {
	if environmentName.MatchString(name) {
		return "An environment variable belongs in " +
			d.inSyntax("env: {"+name+": …}", "env { "+name+" = … }") + " of a run."
	}
	called := ""
	if own, ok := synonyms[name]; ok {
		name, called = own, "weir's name for it is "+own+". "
	}
	if _, top := grammar.Find(grammar.Scenario, name); top {
		return called + "It belongs at the top level of the file, outside of all sections."
	}
	below := d.placesOf(name, here)
	places := append(below, d.placesOf(name, grammar.Scenario)...)
	isOption := slices.ContainsFunc(workload.Names(),
		func(w string) bool { return slices.Contains(optionsOf(w), name) })
	switch {
	case len(places) > 0 && (below != nil || strings.HasPrefix(places[0], "run") || !isOption):
		places = places[:min(cmp.Or(len(below), len(places)), 2)]
		return called + "It belongs in " + strings.Join(places, " or in ") + "."
	case isOption:
		return "It is an option of a workload: write it in " +
			d.inSyntax("runs: {NAME: {options: {"+name+": …}}}", "run \"NAME\" { options { "+name+" = … } }") + "."
	}
	return ""
}
