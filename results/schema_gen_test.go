package results_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/golden"
)

// node is a piece of a JSON Schema.
type node = map[string]any

// fixedDefinitions are definitions that no Go type says.
const fixedDefinitions = `{
	"interval": {"description": "Null below two launches.", "anyOf": [{"type": "null"}, {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}]},
	"confidence": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
	"count": {"type": "integer", "minimum": 0},
	"digest": {"description": "sha256:…, or empty where there is none.", "type": "string", "pattern": "^(sha256:[0-9a-f]+)?$"},
	"seal": {"description": "SHA-256 of the canonical form by RFC 8785; one of an older version has no v2 and is not checked.", "type": "string", "pattern": "^(v2:)?sha256:[0-9a-f]{64}$"},
	"scalar": {"type": ["string", "number", "boolean", "null"]},
	"values": {
		"description": "One value per metric, in the unit of the metric's registry entry.",
		"type": "object", "additionalProperties": {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
	},
	"expression": {
		"description": "Arithmetic over metrics, in base units (bytes, seconds).",
		"type": "object", "required": ["op"],
		"oneOf": [
			{"additionalProperties": false, "required": ["metric"], "properties": {
				"op": {"const": "metric"}, "metric": {"type": "string"}, "unit": {"type": "string"},
				"case": {"description": "The key of the case that it is of; absent: the assertion's own.", "type": "string"},
				"baseline": {"description": "It is taken from the baseline's case of that key.", "type": "boolean"}
			}},
			{"additionalProperties": false, "properties": {"op": {"const": "const"}, "value": {"type": "number"}}},
			{"additionalProperties": false, "required": ["args"], "properties": {
				"op": {"enum": ["+", "-", "*", "/"]}, "args": {"type": "array", "items": {"$ref": "#/$defs/expression"}, "minItems": 2, "maxItems": 2}
			}},
			{"additionalProperties": false, "required": ["args"], "properties": {
				"op": {"enum": AGGREGATES}, "args": {"type": "array", "items": {"$ref": "#/$defs/expression"}, "minItems": 1}
			}}
		]
	}
}`

// fixedTypes are the Go types of such definitions.
var fixedTypes = map[reflect.Type]string{
	reflect.TypeFor[*[2]float64](): "interval", reflect.TypeFor[int](): "count", reflect.TypeFor[int64](): "count",
	reflect.TypeFor[uint64](): "count",
	reflect.TypeFor[any]():    "scalar", reflect.TypeFor[results.MetricValues](): "values",
	reflect.TypeFor[assertion.Expr](): "expression",
}

func ref(name string) node { return node{"$ref": "#/$defs/" + name} }

// schemaGen makes definitions of structs: tag doc is the description, tag schema has what
// the type does not say. A member is required unless its tag omits it.
type schemaGen struct{ defs node }

// of is the schema of a type. The rules are for the innermost value.
func (g *schemaGen) of(t reflect.Type, rules map[string]string) node {
	if name := fixedTypes[t]; name != "" && len(rules) == 0 {
		return ref(name)
	}
	if name := rules["ref"]; name != "" && t.Kind() != reflect.Slice {
		return ref(name)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem(), rules)
	case reflect.Slice, reflect.Array:
		n := node{"type": "array"}
		if t.Kind() == reflect.Array {
			n["minItems"], n["maxItems"] = t.Len(), t.Len()
		}
		inner := map[string]string{}
		for name, value := range rules {
			if name == "minItems" {
				n[name] = number(value)
			} else {
				inner[name] = value
			}
		}
		n["items"] = g.of(t.Elem(), inner)
		return n
	case reflect.Map:
		return g.ofMap(t.Elem(), rules)
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return node{"type": "string", "format": "date-time"}
		}
		if values, ok := t.FieldByName("values"); ok { // Named
			return g.ofMap(values.Type.Elem(), rules)
		}
		return ref(g.define(t))
	}
	n := node{
		"type": map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean",
			reflect.Float64: "number"}[t.Kind()],
	}
	if n["type"] == "" {
		n["type"] = "integer"
	}
	for name, value := range rules {
		switch name {
		case "enum":
			n["enum"] = words(value, n["type"] == "integer")
		case "pattern", "format":
			n[name] = value
		default:
			n[name] = number(value)
		}
	}
	return n
}

// ofMap is the schema of a map. With keys it has these, where one with ? need not be there.
func (g *schemaGen) ofMap(value reflect.Type, rules map[string]string) node {
	keys, listed := rules["keys"]
	delete(rules, "keys")
	of := g.of(value, rules)
	if !listed {
		return node{"type": "object", "additionalProperties": of}
	}
	properties, required := node{}, []string{}
	for key := range strings.SplitSeq(keys, "|") {
		name, optional := strings.CutSuffix(key, "?")
		properties[name] = of
		if !optional {
			required = append(required, name)
		}
	}
	return node{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
}

// define makes the definition of a struct.
func (g *schemaGen) define(t reflect.Type) string {
	name := snake(t.Name())
	if strings.HasSuffix(t.PkgPath(), "/assertion") {
		name = "asserted_" + name
	}
	if g.defs[name] != nil {
		return name
	}
	properties, required := node{}, []string{}
	g.defs[name] = node{"type": "object", "additionalProperties": false, "properties": properties}
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		if tag == "" || tag == "-" {
			continue // embedded, or not in the document
		}
		member, omitted, _ := strings.Cut(tag, ",")
		if k := f.Type.Kind(); omitted == "omitempty" && k != reflect.String && k != reflect.Slice && k != reflect.Map {
			panic(t.Name() + "." + f.Name + " needs omitzero: with omitempty json/v2 writes false and 0")
		}
		rules := map[string]string{}
		if text := f.Tag.Get("schema"); text != "" {
			for rule := range strings.SplitSeq(text, ",") {
				key, value, _ := strings.Cut(rule, "=")
				rules[key] = value
			}
		}
		_, never := rules["nonnull"]
		delete(rules, "nonnull")
		n := g.of(f.Type, rules)
		if omitted == "" {
			required = append(required, member)
			if f.Type.Kind() == reflect.Pointer && !never && fixedTypes[f.Type] != "interval" {
				n = node{"anyOf": []any{node{"type": "null"}, n}}
			}
		}
		if doc := f.Tag.Get("doc"); doc != "" {
			n["description"] = doc
		}
		properties[member] = n
	}
	g.defs[name].(node)["required"] = required
	return name
}

func number(text string) json.Number { return json.Number(text) }

func words(text string, numbers bool) (out []any) {
	for word := range strings.SplitSeq(text, "|") {
		if numbers {
			out = append(out, number(word))
		} else {
			out = append(out, word)
		}
	}
	return out
}

// snake is MetricTable as metric_table, and NUMANode as numa_node.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		lower := func(at int) bool { return at < len(name) && unicode.IsLower(rune(name[at])) }
		if i > 0 && unicode.IsUpper(r) && (lower(i-1) || lower(i+1)) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func generatedSchema(t *testing.T) []byte {
	t.Helper()
	var aggregates []string
	for _, a := range assertion.Aggregates() {
		aggregates = append(aggregates, strconv.Quote(string(a.Op)))
	}
	g := schemaGen{}
	if err := json.Unmarshal([]byte(strings.Replace(fixedDefinitions, "AGGREGATES",
		fmt.Sprint("[", strings.Join(aggregates, ","), "]"), 1)), &g.defs); err != nil {
		t.Fatal(err)
	}
	schema := ref(g.define(reflect.TypeFor[results.Document]()))
	schema["$schema"], schema["$id"] = "https://json-schema.org/draft/2020-12/schema", "urn:weir:schema:results:v1"
	schema["title"] = "weir result document"
	schema["description"] = "A session of weir: what was planned, what was measured and what the gate said of it. " +
		"Everything that was planned is present, also what was excluded, skipped or ended by an abort."
	schema["$defs"] = g.defs
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(schema); err != nil {
		t.Fatal(err)
	}
	return innermost.ReplaceAllFunc(b.Bytes(), func(text []byte) []byte {
		text = append(bytes.TrimSpace(text[1:len(text)-1]), text[len(text)-1])
		return append([]byte{text[len(text)-1] - 2}, lineBreak.ReplaceAll(text, []byte(" "))...)
	})
}

// innermost is an object or a list without others in it, which has a line.
var (
	innermost = regexp.MustCompile(`\{[^][{}]*\}|\[[^][{}]*\]`)
	lineBreak = regexp.MustCompile(`\n\s*`)
)

// The schema is what the types of a document say.
func TestSchemaFollowsTheTypes(t *testing.T) {
	golden.Equal(t, "schema.json", generatedSchema(t))
}
