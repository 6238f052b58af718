package jsonschema

import (
	"encoding/json"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
)

// typed reports whether a value of the option is a scalar that its text shows to be right or wrong.
func typed(o option.Option) bool {
	switch o.Type {
	case option.Size, option.Time, option.Rate, option.Frequency, option.Percent, option.Count, option.Bool,
		option.Enum, option.NUMA:
		return true
	}
	return false
}

func optionOf(k *workload.Kind, name string) schema {
	return reference("options_" + k.Name + "/properties/" + name)
}

// axesOf restricts the values of axes over options of the workload, in every combination of a sweep.
func (w *walker) axesOf(k *workload.Kind) schema {
	properties := schema{}
	name := "sweep_" + k.Name
	for _, o := range k.Options {
		if typed(o) {
			properties[o.Name] = schema{"items": optionOf(k, o.Name)}
		}
	}
	for _, key := range []string{"product", "zip", "concat"} {
		properties[key] = schema{"$ref": "#/$defs/" + name, "items": reference(name)}
	}
	w.definitions[name] = schema{"properties": properties}
	return reference(name)
}

// variantOptions restricts the values of options that variants set: a value must fit one of the workloads
// that have the option.
func (w *walker) variantOptions() schema {
	properties := schema{}
	distinct := map[string][]schema{} // by option
	texts := map[string]bool{}        // of the forms in it
	unclear := map[string]bool{}      // options that are not typed in some workload
	for _, k := range workload.Kinds() {
		for _, o := range k.Options {
			unclear[o.Name] = unclear[o.Name] || !typed(o)
			form := optionSchema(k, o)
			delete(form, "description")
			delete(form, "default")
			text, err := json.Marshal(form)
			if key := o.Name + string(text); err == nil && !texts[key] {
				texts[key] = true
				distinct[o.Name] = append(distinct[o.Name], optionOf(k, o.Name))
			}
		}
	}
	for name, forms := range distinct {
		if !unclear[name] {
			properties[name] = schema{"anyOf": append(forms, schema{"type": "null"})}
		}
	}
	return schema{"properties": properties}
}

// variants is the schema of the table of variants, with typed options.
func (w *walker) variants(k grammar.Key) schema {
	s := w.key(k)
	w.definitions["options_of_variants"] = w.variantOptions()
	s["additionalProperties"] = schema{"allOf": []any{
		s["additionalProperties"],
		schema{"properties": schema{"options": reference("options_of_variants")}},
	}}
	return s
}
