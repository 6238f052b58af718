package jsonschema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/weir-bench/weir/workload"
)

// The parts of an assertion for patterns, in the syntax that JavaScript and RE2 share. An assertion is
// words, as 1.5GB or latency.p99, with symbols and texts in quotes between them.
const (
	ofWord   = `[A-Za-z0-9_.$]`
	symbol   = `[^A-Za-z0-9_.$"'` + "`" + `]|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|` + "`[^`]*`" + ``
	written  = `[0-9]` + ofWord + `*`
	undotted = `[A-Za-z_$][A-Za-z0-9_$]*` // it may be an axis
	// ofOther is a metric of another case, or of another run, which may be of another workload.
	ofOther = `(?:run|at)\s*\([\s\S]*\)\s*\.\s*` + ofWord + `+|\.\s*` + ofWord + `*`
	fact    = `(?:env|provider)\.` + ofWord + `+`
	where   = `where[^A-Za-z0-9_.$][\s\S]*`
)

// assertions adds a definition for each workload that restricts the names in its assertions, and returns
// the rule that applies them to a run.
func (w *walker) assertions() schema {
	var rules []schema
	for _, k := range workload.Kinds() {
		if k.DeclaresMetrics {
			continue // a run may measure anything
		}
		name := "assertion_" + k.Name
		w.definitions[name] = assertionsOf(k)
		rules = append(rules, schema{"if": ofWorkload(k), "then": schema{"properties": schema{"assert": schema{
			"items": schema{"$ref": "#/$defs/" + name, "properties": schema{"that": reference(name)}},
		}}}})
	}
	return schema{"allOf": rules}
}

// assertionsOf accepts texts with a metric of the workload, and without names with dots that are none.
func assertionsOf(k *workload.Kind) schema {
	metrics := k.Metrics
	if !slices.ContainsFunc(metrics, func(m workload.Metric) bool { return workload.OfCase(m.Name) }) {
		metrics = append(slices.Clone(metrics), workload.Availability)
	}
	var plain, dotted []string
	var examples []any
	for _, m := range metrics {
		if strings.Contains(m.Name, ".") {
			dotted = append(dotted, m.Name)
		} else {
			plain = append(plain, m.Name)
		}
		examples = append(examples, exampleOf(m))
	}
	of := anyOf(append(byRoot(dotted), plain...)...)
	measured := `(?:^|[^A-Za-z0-9_.$])` + anyOf(of, "transport", `provider\.`+ofWord+`+`) +
		`(?:[^A-Za-z0-9_.$]|$)`
	word := anyOf(written, undotted, ofOther, fact, where, anyOf(byRoot(dotted)...), `(?:baseline|reference)\.`+of)
	known := `^(?:` + symbol + `|` + word + `(?:` + symbol + `|$))*$`
	return schema{
		"anyOf":       []schema{{"allOf": []schema{{"pattern": measured}, {"pattern": known}}}, {"pattern": open}},
		"description": fmt.Sprintf("an assertion about metrics of weir docs metrics %s", k.Name),
		"examples":    examples,
	}
}

func anyOf(patterns ...string) string { return `(?:` + strings.Join(patterns, "|") + `)` }

// byRoot returns patterns of names with dots, one for all that begin with the same word.
func byRoot(names []string) (patterns []string) {
	var roots []string
	rest := map[string][]string{}
	for _, n := range names {
		root, tail, _ := strings.Cut(n, ".")
		if rest[root] == nil {
			roots = append(roots, root)
		}
		rest[root] = append(rest[root], regexp.QuoteMeta(tail))
	}
	for _, root := range roots {
		patterns = append(patterns, root+`\.`+anyOf(rest[root]...))
	}
	return patterns
}

// exampleOf returns an assertion about a metric for an editor to offer.
func exampleOf(m workload.Metric) string {
	bound := "1 " + m.Unit
	switch {
	case workload.OfCase(m.Name):
		bound = "0.9"
	case m.Unit == "":
		bound = "1"
	}
	if m.Better == workload.Lower {
		return fmt.Sprintf("%s <= %s", m.Name, bound)
	}
	return fmt.Sprintf("%s >= %s", m.Name, bound)
}

// knownMetrics restricts the assertions of all runs, unless services may measure further metrics for
// them.
func (w *walker) knownMetrics() schema {
	w.definitions["run_of_known_metrics"] = w.assertions()
	runs := reference("run_of_known_metrics")
	without := func(key string) schema {
		return schema{"not": schema{"type": "object", "required": []string{key}}}
	}
	return schema{
		"if": schema{"properties": schema{
			"services": schema{"additionalProperties": without("metrics"), "items": without("metrics")},
			"variants": schema{"additionalProperties": without("services")},
		}},
		"then": schema{"properties": schema{"runs": schema{"additionalProperties": runs, "items": runs}}},
	}
}

// ofWorkload accepts runs of the workload.
func ofWorkload(k *workload.Kind) schema {
	return schema{"properties": schema{"workload": schema{"const": k.Name}}, "required": []string{"workload"}}
}
