// Reading of the table of variants.

package dsl

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/internal/suggest"
)

// variantReader reads the table of variants.
type variantReader struct {
	*loader
	table *variants
}

// readVariants reads the table, and makes it known to expressions.
func (l *loader) readVariants(content *hcl.BodyContent) {
	if hasKey(content, "variants") {
		l.variants = &variants{objects: map[string]cty.Value{}}
		l.eval.variants = l.variants
		(&variantReader{l, l.variants}).read(content)
	}
}

func (vr *variantReader) read(content *hcl.BodyContent) {
	v := vr.table
	var baselines []item
	for _, e := range vr.section(content, "variants") {
		if e.name == "baseline" && !isMapping(e.expr) {
			baselines = vr.baselines(e)
			continue
		}
		if !variantName().MatchString(e.name) {
			vr.error(e.at, "Invalid name", fmt.Sprintf("%s is not a valid name of a variant.", quote(e.name)),
				"Use at most 100 letters, digits, inner blanks, and _ . + - ( ) / : &.")
			continue
		}
		if v.row(e.name) != nil {
			vr.error(e.at, "Duplicate variant", fmt.Sprintf("Variant %s was already given.", quote(e.name)),
				"Rename one of the two.")
			continue
		}
		v.rows = append(v.rows, vr.row(e))
		v.runValues = append(v.runValues, runValues(e.expr)...)
	}
	vr.setVariables()
	for _, r := range v.rows {
		vr.values(r)
		v.objects[r.name] = cty.ObjectVal(r.values)
	}
	vr.unused()
	for _, b := range baselines {
		v.baselines = append(v.baselines, b.text)
		if v.row(b.text) == nil {
			vr.error(b.at, "Unknown variant", fmt.Sprintf("There is no variant %s.", quote(b.text)),
				suggest.Sentence(b.text, v.rowNames(), "variants"))
		}
	}
}

// baselines reads one name, or a list of them.
func (vr *variantReader) baselines(e entry) []item {
	if items, isList, _ := vr.list(e.expr, "baseline"); isList {
		return items
	}
	name, ok := vr.text(e.expr, "baseline")
	if !ok {
		return nil
	}
	return []item{{text: name, at: e.expr.Range()}}
}

func (vr *variantReader) row(e entry) *variant {
	r := &variant{name: e.name, values: map[string]cty.Value{}}
	fields := vr.mapping(e.expr, e.name)
	for i, f := range fields {
		switch f.name {
		case variantNote:
			r.note = f.expr
		case variantEnv:
			r.env = vr.mapping(f.expr, variantEnv)
		case variantOptions:
			r.options = vr.mapping(f.expr, variantOptions)
		case variantService:
			r.services = vr.services(r.name, f.expr)
		case variantVars:
			r.vars = vr.mapping(f.expr, variantVars)
		default:
			if i == 0 || fields[i-1].name != variantNote || !isNull(f.expr) {
				r.fields = append(r.fields, f)
				continue
			}
			// in YAML braces, a comma within a note ends its text and makes the rest a key
			r.noteRest += ", " + f.name
			fields[i].name = variantNote
		}
	}
	return r
}

// values reads the values of a variant's names, with the variables that the variant sets.
func (vr *variantReader) values(r *variant) {
	defer vr.eval.withVariant(r)()
	for _, e := range r.vars {
		vr.set(r, e)
	}
	for _, e := range r.fields {
		vr.set(r, e)
	}
	if r.note != nil {
		text, _ := vr.text(r.note, variantNote)
		r.noteText = strings.Join(strings.Fields(text+r.noteRest), " ")
	}
}

func (vr *variantReader) set(r *variant, e entry) {
	switch _, twice := r.values[e.name]; {
	case !identifier().MatchString(e.name):
		vr.error(e.at, "Invalid name", fmt.Sprintf("%s is not a valid name of a value.", quote(e.name)),
			"Use letters, digits and _.")
	case twice:
		vr.error(e.at, "Given twice", fmt.Sprintf("Variant %s already has %s.", quote(r.name), quote(e.name)),
			"Keep one of the two.")
	default:
		r.values[e.name] = vr.valueWithRuns(e.expr)
	}
}

// isNull reports whether a value is empty or null.
func isNull(expr hcl.Expression) bool {
	v, diags := expr.Value(nil)
	return !diags.HasErrors() && v.IsNull()
}

// variantKeys are the keys of a variant, for hints.
var variantKeys = []string{variantVars, variantEnv, variantOptions, variantService, variantNote}

// unused reports values of variants that no text of the file uses. An unused mapping is most likely
// a misspelt key.
func (vr *variantReader) unused() {
	for _, r := range vr.table.rows {
		for _, e := range r.fields {
			if r.values[e.name] == cty.NilVal || vr.mentions(variantAxis, e.name) {
				continue
			}
			if isMapping(e.expr) {
				vr.error(e.at, "Unknown key", fmt.Sprintf("A variant has no key %s, and nothing uses ${variant.%s}.",
					quote(e.name), e.name), suggest.Sentence(e.name, variantKeys, "keys of a variant"))
				continue
			}
			hint := fmt.Sprintf("Mention it as ${variant.%s}", e.name)
			if _, ok := vr.eval.variables[e.name]; ok {
				hint += fmt.Sprintf(", or write vars: {%s: …} to set the variable", e.name)
			}
			vr.warn(e, "variant."+e.name, hint+".")
		}
		for _, e := range r.vars {
			if r.variables[e.name] != nil && !vr.mentions("var", e.name) && !vr.mentions(variantAxis, e.name) {
				vr.warn(e, "var."+e.name, fmt.Sprintf("Mention it as ${var.%s}, or remove it.", e.name))
			}
		}
	}
}

func (vr *variantReader) warn(e entry, name string, hint string) {
	vr.decoder.warn(e.at, "Value without effect", fmt.Sprintf("Nothing in the file uses %s.", name), hint)
}

// mentions reports whether the file has root.NAME or root["NAME"] in its text.
func (vr *variantReader) mentions(root string, name string) bool {
	name = regexp.QuoteMeta(name)
	return regexp.MustCompile(`\b` + root + `\s*(\.\s*` + name + `\b|\[\s*\\?"` + name + `\\?"\s*\])`).Match(vr.src)
}

// checkVariantOptions reports options of variants that no workload of the file's runs with variants has.
func (l *loader) checkVariantOptions(runs []*Run) {
	if l.variants == nil || l.incomplete {
		return
	}
	known := map[string]bool{}
	for _, r := range runs {
		if r.Workload == nil {
			return // reported
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
