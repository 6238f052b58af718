package dsl

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"weir/suggest"
)

// readVariants reads the table, of which expressions know from then on.
func (l *loader) readVariants(content *hcl.BodyContent) {
	if !has(content, "variants") {
		return
	}
	v := &variants{objects: map[string]cty.Value{}}
	l.variants, l.eval.variants = v, v
	var baseline *entry
	for _, e := range l.section(content, "variants") {
		if e.name == "baseline" && !isMapping(e.expr) {
			v.baseline, _ = l.text(e.expr, "baseline")
			baseline = &e
			continue
		}
		if !variantName.MatchString(e.name) {
			l.error(e.at, "Invalid name", fmt.Sprintf("%s is no name of a variant.", quote(e.name)),
				"Use letters, digits, blanks within, and _ . + - ( ) / : &, at most 100 of them.")
			continue
		}
		if v.row(e.name) != nil {
			l.error(e.at, "Duplicate variant", fmt.Sprintf("Variant %s was already given.", quote(e.name)),
				"Rename one of the two.")
			continue
		}
		v.rows = append(v.rows, l.readVariant(e))
		v.runValues = append(v.runValues, runValues(e.expr)...)
	}
	l.variablesOfVariants(v)
	for _, r := range v.rows {
		l.valuesOfVariant(r)
		v.objects[r.name] = cty.ObjectVal(r.values)
	}
	l.unusedValues(v)
	if baseline != nil && v.row(v.baseline) == nil {
		l.error(baseline.expr.Range(), "Unknown variant", fmt.Sprintf("There is no variant %s.", quote(v.baseline)),
			suggest.Sentence(v.baseline, v.rowNames(), "variants"))
	}
}

func (l *loader) readVariant(e entry) *variant {
	r := &variant{name: e.name, values: map[string]cty.Value{}}
	fields := l.mapping(e.expr, e.name)
	for i, f := range fields {
		switch f.name {
		case variantNote:
			r.note = f.expr
		case variantEnv:
			r.env = l.mapping(f.expr, variantEnv)
		case variantOptions:
			r.options = l.mapping(f.expr, variantOptions)
		case variantService:
			r.services = l.changedServices(r.name, f.expr)
		case variantVars:
			r.vars = l.mapping(f.expr, variantVars)
		default:
			if i == 0 || fields[i-1].name != variantNote || !isNull(f.expr) {
				r.fields = append(r.fields, f)
				continue
			}
			fields[i].name = variantNote // what follows a comma of a note, at which YAML in braces ends a text
		}
	}
	return r
}

// valuesOfVariant reads the values that a variant gives names to, in which variables are as it has them.
func (l *loader) valuesOfVariant(r *variant) {
	defer l.eval.as(r)()
	for _, e := range r.vars {
		r.set(l, e)
	}
	for _, e := range r.fields {
		r.set(l, e)
	}
	if r.note != nil {
		l.text(r.note, variantNote)
	}
}

func (r *variant) set(l *loader, e entry) {
	switch _, twice := r.values[e.name]; {
	case !identifier.MatchString(e.name):
		l.error(e.at, "Invalid name", fmt.Sprintf("%s is no name of a value.", quote(e.name)),
			"Use letters, digits and _.")
	case twice:
		l.error(e.at, "Given twice", fmt.Sprintf("Variant %s already has %s.", quote(r.name), quote(e.name)),
			"Keep one of the two.")
	default:
		r.values[e.name] = l.valueWithRuns(e.expr)
	}
}

// isNull says whether a value is written as nothing, or as null.
func isNull(expr hcl.Expression) bool {
	v, diags := expr.Value(nil)
	return !diags.HasErrors() && v.IsNull()
}

// The keys of a variant, for advice.
var variantKeys = []string{variantVars, variantEnv, variantOptions, variantService, variantNote}

// unusedValues reports values of variants that no text of the file mentions: a mapping is most
// likely a key that is misspelt.
func (l *loader) unusedValues(v *variants) {
	for _, r := range v.rows {
		for _, e := range r.fields {
			if r.values[e.name] == cty.NilVal || l.mentions(variantAxis, e.name) {
				continue
			}
			if isMapping(e.expr) {
				l.error(e.at, "Unknown key", fmt.Sprintf("A variant has no %s, and nothing uses ${variant.%s}.",
					quote(e.name), e.name), suggest.Sentence(e.name, variantKeys, "keys of a variant"))
				continue
			}
			hint := fmt.Sprintf("Mention it as ${variant.%s}", e.name)
			if _, ok := l.eval.variables[e.name]; ok {
				hint += fmt.Sprintf(", or write vars: {%s: …} to set the variable", e.name)
			}
			l.warnUnused(e, "variant."+e.name, hint+".")
		}
		for _, e := range r.vars {
			if r.variables[e.name] != nil && !l.mentions("var", e.name) && !l.mentions(variantAxis, e.name) {
				l.warnUnused(e, "var."+e.name, fmt.Sprintf("Mention it as ${var.%s}, or remove it.", e.name))
			}
		}
	}
}

func (l *loader) warnUnused(e entry, name, hint string) {
	d := diagnostic(e.at, "Value without effect", fmt.Sprintf("Nothing in the file uses %s.", name), hint)
	d.Severity = hcl.DiagWarning
	l.diags = append(l.diags, d)
}

// mentions says whether the file has root.NAME or root["NAME"] in its text.
func (l *loader) mentions(root, name string) bool {
	name = regexp.QuoteMeta(name)
	return regexp.MustCompile(`\b` + root + `\s*(\.\s*` + name + `\b|\[\s*\\?"` + name + `\\?"\s*\])`).Match(l.src)
}

// optionsOfAny reports options of variants that no workload has whose runs sweep variants. runs are those
// of the file.
func (l *loader) optionsOfAny(runs []*Run) {
	if l.variants == nil || l.incomplete {
		return
	}
	known := map[string]bool{}
	for _, r := range runs {
		if r.Workload == nil {
			return // which has been reported
		}
		if r.axis(variantAxis) == nil {
			continue
		}
		for _, name := range optionNames(r.Workload) {
			known[name] = true
		}
	}
	if len(known) == 0 {
		return // no run sweeps variants
	}
	for _, v := range l.variants.rows {
		for _, e := range v.options {
			if !known[e.name] {
				l.error(e.at, "Unknown option",
					fmt.Sprintf("No workload of a run that sweeps variant has an option %s.", quote(e.name)),
					suggest.Documented(e.name, slices.Sorted(maps.Keys(known)), "options",
						"weir docs workloads"))
			}
		}
	}
}
