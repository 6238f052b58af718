// Package jsonschema generates the JSON Schema (draft 2020-12) of scenarios in YAML, for editors,
// from the grammar and the registry of workloads.
//
// A place that reads text accepts every YAML scalar (a number, a flag), and any text with ${…},
// since its value is unknown. Assertions must name metrics of the run's workload, and values of axes must
// fit its options. `weir validate` may refuse a file that the schema accepts, but not
// the reverse.
package jsonschema

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/workload"
)

// ID is the identifier of the schema.
const ID = "urn:weir:schema:scenario:v1"

// schema is a JSON Schema. Go writes the keys of a map in order, so equal tables give equal bytes.
type schema map[string]any

// Scenario returns the schema of scenario files, indented, with a final line feed.
func Scenario() ([]byte, error) {
	w := &walker{definitions: schema{}}
	root := w.keys(grammar.Scenario)
	root["anyOf"] = []schema{{"required": []string{"runs"}}, {"required": []string{"include"}}}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = ID
	root["title"] = "weir scenario"
	root["description"] = "a weir scenario in YAML: runs, their sweeps and assertions"
	w.scalars()
	w.workloads()
	root["allOf"] = []schema{w.knownMetrics()}
	root["$defs"] = w.definitions
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the schema of scenarios: %w", err)
	}
	return append(b, '\n'), nil
}

// walker converts tables of keys to schemas. Tables that are used several times become definitions.
type walker struct {
	definitions schema
}

func reference(name string) schema { return schema{"$ref": "#/$defs/" + name} }

// keys returns the schema of a mapping with known keys.
func (w *walker) keys(keys []grammar.Key) schema {
	properties := schema{}
	var required []string
	for _, k := range keys {
		p := w.key(k)
		if k.Name == "variants" {
			p = w.variants(k)
		}
		properties[k.Name] = p
		if k.Required {
			required = append(required, k.Name)
		}
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func (w *walker) key(k grammar.Key) schema {
	s := schema{}
	for name, v := range w.forms(k.Forms) {
		s[name] = v
	}
	s["description"] = k.Doc + k.Note()
	if k.Default != "" {
		s["default"] = defaultValue(k.Default)
	}
	return s
}

// forms returns the schema of a value with several forms.
func (w *walker) forms(forms []grammar.Form) schema {
	if len(forms) == 1 {
		return w.form(forms[0])
	}
	var any []schema
	for _, f := range forms {
		any = append(any, w.form(f))
	}
	return schema{"anyOf": any}
}

func (w *walker) form(f grammar.Form) schema {
	switch f.Shape {
	case grammar.List:
		return schema{"anyOf": []schema{{"type": "array", "items": w.forms(f.Item)}, reference("template")}}
	case grammar.Section:
		return orNothing(w.shared(f.Keys))
	case grammar.Named:
		return w.named(f)
	case grammar.Map:
		return w.mapOf(f)
	case grammar.Sweep:
		return w.sweep()
	}
	if len(f.Values) > 0 {
		return schema{"anyOf": []schema{{"enum": f.Values}, reference("template")}}
	}
	return reference(string(f.Type))
}

// orNothing also accepts a key without a value, as the loader does.
func orNothing(s schema) schema {
	return schema{"anyOf": []schema{s, {"type": "null"}}}
}

// shared adds the schema of a table of keys to the definitions, named by its first keys.
func (w *walker) shared(keys []grammar.Key) schema {
	name := tableName(keys)
	if name == "" {
		return w.keys(keys)
	}
	if w.definitions[name] == nil {
		w.definitions[name] = schema{} // a table may contain itself
		s := w.keys(keys)
		if name == "run" {
			s = w.ofWorkloads(s)
		}
		w.definitions[name] = s
	}
	return reference(name)
}

// tableName names the tables of package grammar.
func tableName(keys []grammar.Key) string {
	for name, table := range map[string][]grammar.Key{
		"run": grammar.Run, "command": grammar.Command, "check": grammar.Check, "variable": grammar.Variable,
		"assert": grammar.Assert, "need": grammar.Need, "exclude": grammar.Exclude, "order": grammar.Order,
		"defaults": grammar.Defaults, "cluster": grammar.Cluster, "place": grammar.Place, "artifact": grammar.Artifact,
		"include":  grammar.Include,
		"timeouts": grammar.Timeouts, "retry": grammar.Retry, "decide": grammar.Decide, "xfail": grammar.XFail,
		"may_fail":   grammar.MayFail,
		"validation": grammar.Validation, "claim": grammar.Claim,
	} {
		if len(keys) == len(table) && len(keys) > 0 && &keys[0] == &table[0] {
			return name
		}
	}
	return ""
}

// named accepts a mapping from name to contents, or a list of items with a key name.
func (w *walker) named(f grammar.Form) schema {
	contents := w.shared(f.Keys)
	name := tableName(f.Keys)
	listed := w.keys(f.Keys)
	if name == "run" {
		listed = w.ofWorkloads(listed)
	}
	listed["properties"].(schema)["name"] = schema{"$ref": "#/$defs/string", "description": "its name"}
	required, _ := listed["required"].([]string)
	listed["required"] = append([]string{"name"}, required...)
	w.definitions["listed_"+name] = listed
	least := orNothing(contents)
	if required != nil {
		least = contents
	}
	return schema{"anyOf": []schema{
		{"type": "object", "additionalProperties": least},
		{"type": "array", "items": reference("listed_" + name)},
	}}
}

func (w *walker) mapOf(f grammar.Form) schema {
	s := schema{"type": []string{"object", "null"}, "additionalProperties": w.forms(f.Value)}
	switch f.Names {
	case "env":
		s["propertyNames"] = schema{"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
	case "workloads":
		properties := schema{}
		for _, k := range workload.Kinds() {
			properties[k.Name] = reference("options_" + k.Name)
		}
		s["properties"], s["additionalProperties"] = properties, false
	}
	return s
}

// sweep accepts axes beside the keys that combine them; it is recursive.
func (w *walker) sweep() schema {
	if w.definitions["sweep"] != nil {
		return orNothing(reference("sweep"))
	}
	w.definitions["sweep"] = schema{}
	s := w.keys(grammar.SweepKeys)
	axes := schema{}
	docs := map[string]string{}
	for _, k := range workload.Kinds() {
		for _, o := range k.Options {
			switch before, known := docs[o.Name]; {
			case !known:
				docs[o.Name] = o.Doc
			case before != o.Doc: // of another workload
				docs[o.Name] = before + "; of workload " + k.Name + ": " + o.Doc
			}
			axes[o.Name] = schema{"$ref": "#/$defs/axis", "description": "axis over the option: " + docs[o.Name]}
		}
	}
	properties := s["properties"].(schema)
	for name, axis := range axes {
		if properties[name] == nil {
			properties[name] = axis
		}
	}
	s["additionalProperties"] = reference("axis")
	s["patternProperties"] = schema{`^env\.`: reference("axis_of_variable")}
	s["propertyNames"] = schema{
		"pattern": `^(env\.)?[A-Za-z_][A-Za-z0-9_]*$`, "not": schema{"enum": []string{"env", "host", "axis"}},
	}
	w.definitions["sweep"] = s
	return orNothing(reference("sweep"))
}

// ofWorkloads selects the options of a run and the values of its axes by its workload.
func (w *walker) ofWorkloads(run schema) schema {
	var rules []schema
	for _, k := range workload.Kinds() {
		rules = append(rules, schema{"if": ofWorkload(k), "then": schema{"properties": schema{
			"options": reference("options_" + k.Name), "sweep": w.axesOf(k),
		}}})
	}
	run["allOf"] = rules
	names := slices.Clone(workload.Names())
	run["properties"].(schema)["workload"] = schema{
		"anyOf":       []schema{{"enum": names}, reference("template")},
		"description": run["properties"].(schema)["workload"].(schema)["description"],
	}
	return run
}
