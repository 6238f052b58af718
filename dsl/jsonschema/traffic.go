package jsonschema

import (
	"weir/dsl/grammar"
	"weir/matgen"
	"weir/workload"
	_ "weir/workload/kinds" // the workloads that scenarios may name
	"weir/workload/traffic"
)

// model is the schema of traffic that follows from a model and its requests.
func model() schema {
	scalar := schema{"type": []string{"string", "number", "boolean"}}
	properties := schema{}
	for _, f := range matgen.Fields() {
		s := schema{"type": []string{"string", "number"}}
		switch {
		case f.Type == matgen.Bool:
			s = reference(string(grammar.Bool))
		case f.Type == matgen.Count:
			s = reference("count")
		case f.Values != nil: // offered and not imposed: there are other spellings
			s = schema{"anyOf": []schema{{"enum": f.Values}, scalar}}
		}
		property := schema{"description": f.Doc}
		for name, v := range s {
			property[name] = v
		}
		if text := f.Default(); text != "" {
			property["default"] = defaultValue(text)
		}
		properties[f.Name] = property
	}
	return schema{
		"type": "object", "properties": properties, "additionalProperties": false,
		"required": []string{"prefill_nodes", "decode_nodes"}, "oneOf": []schema{
			{"required": []string{"model"}}, {"required": []string{"config"}},
		},
	}
}

// pattern is the schema of an item of a sequence.
func pattern(k *workload.Kind) schema {
	file, _ := traffic.Kind.Option("matrix_file")
	properties := schema{file.Name: option(traffic.Kind, file)}
	for _, o := range k.ItemOptions() {
		properties[o.Name] = option(k, o)
		switch o.Type {
		case workload.Time:
			properties[o.Name+workload.InSeconds] = schema{
				"type":        []string{"number", "string"},
				"description": "the same as a plain number of seconds, as the published files have it",
			}
		case workload.String:
			properties[o.Name] = schema{
				"type": []string{"object", "null"}, "description": o.Doc, "additionalProperties": reference("string"),
			}
		}
	}
	return schema{
		"type": "object", "properties": properties, "additionalProperties": false,
		"oneOf": []schema{{"required": []string{"matrix"}}, {"required": []string{file.Name}}},
	}
}
