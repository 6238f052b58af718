package jsonschema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
)

// The patterns of quantities, as in package quantity. Where a pattern cannot be exact, it is
// looser.
const (
	number   = `[+-]?_*([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9_]+)([eE][+-]?[0-9_]+)?`
	whole    = `[+-]?[0-9_]+`
	nothing  = `[+-]?[0_]*\.?[0_]*` // the only number that needs no unit
	sizeUnit = `([KMGT]i?B|kB|B|b|kb|[KMGT]b)`
	rateUnit = `(` + sizeUnit + `/s|[kKMGT]?bps)`
	timeUnit = `(ns|us|µs|μs|ms|s|m|min|h)`
	open     = `[$%]\{`
)

func exactly(pattern string) string { return `^\s*` + pattern + `\s*$` }

// texts are the patterns of types written as text.
var texts = map[grammar.Type]struct {
	pattern  string
	examples []any
}{
	grammar.Time:    {exactly(number + `\s*` + timeUnit), []any{"30s", "5m", "1.5 h"}},
	grammar.Percent: {exactly(number + `\s*%`), []any{"10%", "2.5%"}},
	grammar.Date:    {exactly(`[0-9]{4}-[0-9]{2}-[0-9]{2}`), []any{"2026-12-31"}},
}

// scalars defines the types of scalars.
func (w *walker) scalars() {
	scalar := []string{"string", "number", "boolean"}
	w.definitions["template"] = schema{
		"type": "string", "pattern": open, "description": "a text with ${…}, evaluated when the scenario is read",
	}
	for name, text := range texts {
		w.definitions[string(name)] = orExpression(schema{"type": "string", "pattern": text.pattern}, text.examples...)
	}
	w.definitions["time"].(schema)["description"] = "a time with its unit: ns, us, ms, s, m or h"
	for _, t := range []grammar.Type{grammar.String, grammar.File} {
		w.definitions[string(t)] = schema{"type": scalar}
	}
	w.definitions["expression"] = schema{
		"type": scalar, "description": "an expression over var.NAME, bare or in ${…}", "examples": []any{"var.n > 0"},
	}
	w.definitions["any"] = schema{"type": []string{"string", "number", "boolean", "null"}}
	w.definitions["assertion"] = schema{"type": "string", "examples": []any{
		"bandwidth within 10% of 46.48 GB/s", "latency.p99 <= 60us where block_size == 4KiB",
		"bandwidth increases with block_size",
	}}
	w.definitions["condition"] = schema{
		"type": []string{"string", "boolean"}, "examples": []any{`fabric in host.fabrics`, `block_size > 16MiB`},
	}
	w.definitions["count"] = orExpression(schema{"anyOf": []schema{
		{"type": "integer", "minimum": 0}, {"type": "string", "pattern": exactly(whole)},
	}}, 1, 100)
	w.definitions["bool"] = orExpression(schema{"enum": []any{true, false, "true", "false"}})
	w.definitions["axis"] = axisOf("values", scalar, []string{"4KiB", "1MiB"})
	w.definitions["axis_of_variable"] = axisOf("values, null to leave the variable unset,", append(scalar, "null"),
		[]any{nil, "rc"})
}

// axisOf is an axis with values of some types.
func axisOf(values string, types []string, example any) schema {
	return schema{
		"description": values + " as a list, or a range: first..last xFACTOR or first..last +STEP",
		"anyOf": []schema{
			{"type": "array", "items": schema{"type": types}, "minItems": 1},
			{"type": "string", "pattern": `\.\.`},
			reference("template"),
		},
		"examples": []any{example, "4KiB..64MiB x2", "1..8 +1"},
	}
}

func orExpression(s schema, examples ...any) schema {
	out := schema{"anyOf": []schema{s, reference("template")}}
	if len(examples) > 0 {
		out["examples"] = examples
	}
	return out
}

// workloads defines the options of each workload.
func (w *walker) workloads() {
	for _, k := range workload.Kinds() {
		properties := schema{}
		for _, o := range k.Options {
			properties[o.Name] = optionSchema(k, o)
		}
		if metrics, ok := grammar.Find(grammar.Run, "metrics"); ok && k.DeclaresMetrics {
			properties[metrics.Name] = w.key(metrics)
		}
		w.definitions["options_"+k.Name] = schema{
			"type": []string{"object", "null"}, "description": k.Doc, "properties": properties,
			"additionalProperties": false,
		}
	}
}

func optionSchema(k *workload.Kind, o option.Option) schema {
	var s schema
	switch o.Type {
	case option.Size:
		s = orExpression(schema{"anyOf": []schema{
			{"type": "integer", "minimum": o.Min}, {
				"type": "string", "pattern": exactly(number + `\s*` + sizeUnit + `?`),
			},
		}}, "4KiB", "64MiB", "1GB")
	case option.Count:
		bounded := schema{"type": "integer", "minimum": o.Min}
		if o.Max != 0 {
			bounded["maximum"] = o.Max
		}
		text := schema{"type": "string", "pattern": exactly(whole)}
		if o.Words != nil {
			text = schema{"type": "string"}
		}
		s = orExpression(schema{"anyOf": []schema{bounded, text}})
	case option.Time:
		s = withUnit(timeUnit, "3us", "1.5 ms")
	case option.Rate:
		s = withUnit(rateUnit, "10 GB/s", "400 Gbps")
	case option.Frequency:
		s = withUnit(`1?/s`, "2/s", "0.5 1/s")
	case option.Percent:
		s = withUnit(`%`, "3%", "0.1%")
	case option.Bool:
		s = orExpression(schema{"enum": []any{true, false, "true", "false"}})
	case option.Enum:
		s = orExpression(schema{"enum": asWritten(o.Values)})
	case option.NUMA:
		s = orExpression(schema{
			"anyOf": []schema{
				{"enum": []string{"default", "local"}}, {"type": "integer", "minimum": 0},
				{"type": "string", "pattern": exactly(whole)},
			},
		})
	case option.Matrix:
		rows := schema{
			"type": "array", "minItems": 2, "items": schema{
				"type": "array", "minItems": 2, "items": schema{"type": []string{"string", "integer", "number"}},
			},
		}
		s = schema{"anyOf": []schema{rows, {"type": "string"}}, "examples": []any{[][]any{{0, "4M"}, {"512K", 0}}}}
	case option.Generator:
		s = schema{"anyOf": []schema{
			{"type": "string", "pattern": `^\s*(` + strings.Join(option.Generators(), "|") + `)\s`},
			reference("template"), generatedTraffic(),
		}, "examples": []any{"uniform 4MiB", "sparse 4MiB peers=2 seed=1"}}
	case option.Model:
		s = generatedTraffic()
	case option.Structure:
		s = schema{"type": "object"}
		if o.Forms.Short != "" {
			s = schema{"type": []string{"object", "string", "integer"}}
		}
		if slices.Contains(k.OneOf, o.Name) { // the items of a sequence
			s = schema{"type": "array", "minItems": 1, "items": schema{"type": "object"}}
		}
	case option.Patterns:
		s = schema{"type": "array", "minItems": 1, "items": pattern(k)}
	default:
		s = schema{"type": []string{"string", "number", "boolean"}}
	}
	s["description"] = o.Doc
	if o.Required {
		s["description"] = o.Doc + " (required, here or as an axis)"
		return s
	}
	if o.Default == nil {
		return s
	}
	s["description"] = fmt.Sprintf("%s (default: %s)", o.Doc, o.DefaultText())
	s["default"] = defaultValue(option.Text(o.Default))
	return s
}

// asWritten returns texts, and the numbers and flags that YAML makes of them without quotes.
func asWritten(texts []string) (values []any) {
	for _, text := range texts {
		values = append(values, text)
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			values = append(values, n)
		} else if text == "true" || text == "false" {
			values = append(values, text == "true")
		}
	}
	return values
}

// withUnit is a value that has a unit unless it is 0.
func withUnit(unit string, examples ...any) schema {
	return orExpression(schema{"anyOf": []schema{
		{"const": 0}, {"type": "string", "pattern": exactly(`(` + number + `\s*` + unit + `|` + nothing + `)`)},
	}}, examples...)
}

// defaultValue converts a default to its JSON value.
func defaultValue(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if text == "true" || text == "false" {
		return text == "true"
	}
	inner, isList := strings.CutPrefix(text, "[")
	if !isList {
		return text
	}
	var items []any
	for _, item := range strings.Split(strings.TrimSuffix(inner, "]"), ",") {
		items = append(items, defaultValue(strings.TrimSpace(item)))
	}
	return items
}
