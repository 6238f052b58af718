package jsonschema

import (
	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
	_ "github.com/weir-bench/weir/workload/kinds" // the workloads that scenarios may name
	"github.com/weir-bench/weir/workload/traffic"
	"github.com/weir-bench/weir/workload/traffic/model"
)

// generatedTraffic returns the schema of traffic generated from a model and its requests.
func generatedTraffic() schema {
	scalar := schema{"type": []string{"string", "number", "boolean"}}
	properties := schema{}
	for _, f := range model.Fields() {
		s := schema{"type": []string{"string", "number"}}
		switch {
		case f.Type == model.Bool:
			s = reference(string(grammar.Bool))
		case f.Type == model.Count:
			s = reference("count")
		case f.Values != nil: // a suggestion, not a constraint: other spellings are valid
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

// pattern returns the schema of an item of a sequence.
func pattern(k *workload.Kind) schema {
	file, _ := traffic.Kind.Option("matrix_file")
	properties := schema{file.Name: optionSchema(traffic.Kind, file)}
	for _, o := range k.ItemOptions() {
		properties[o.Name] = optionSchema(k, o)
		switch o.Type {
		case option.Time:
			properties[o.Name+workload.InSeconds] = schema{
				"type":        []string{"number", "string"},
				"description": "the same as a plain number of seconds, as in the published files",
			}
		case option.String:
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
