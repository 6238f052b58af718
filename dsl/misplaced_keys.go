// Hints about keys that people write from memory of other tools, or one level too high.

package dsl

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/workload"
)

// synonyms are names that other tools have for keys of weir.
var synonyms = map[string]string{
	"with": "options", "params": "options", "parameters": "options", "args": "options", "config": "options",
	"settings": "options",
	"matrix":   "sweep", "axes": "sweep", "grid": "sweep",
	"asserts": "assert", "assertions": "assert", "expect": "assert", "expects": "assert", "gate": "assert",
	"gates": "assert", "thresholds": "assert",
	"repeat": "launches", "repeats": "launches", "repetitions": "launches", "trials": "launches",
	"vars": "variables", "environment": "env", "depends_on": "needs", "tests": "runs", "cases": "runs",
	"jobs": "runs", "benchmarks": "runs", "if": "when", "assertion": "that", "expression": "that",
}

// boundKeys are keys that other tools divide an assertion into.
var boundKeys = []string{
	"metric", "op", "operator", "min", "max", "value", "target", "threshold", "tolerance", "above", "below", "bound",
}

// runOptions are options of weir run that people write as keys, by their names as keys, with what follows the option.
var runOptions = map[string]string{
	"allow_stale": "", "columns": "", "disturbed": " keep, or WEIR_DISTURBED=keep", "events": "",
	"fail_fast": "", "history": "", "kube_image": "", "kube_namespace": "", "launcher_config": "",
	"listen": "", "live": "", "no_color": "", "noise_from": "", "notify": " URL, or WEIR_NOTIFY=URL", "only": "",
	"out": "", "previous": "", "push": "", "quiet": "", "report": "", "resume": "",
	"site": " FILE, or WEIR_SITE=FILE", "skip": "", "wide": "",
}

// misplaced returns a hint for a key that is an option of a workload, a value of another key, another tool's name
// for one, or a key of another section; "" if it is none of these.
func (d *decoder) misplaced(name string, s schema, beside hcl.Attributes) string {
	has := func(key string) bool { return slices.Contains(d.known(s), key) }
	var options []string // of the run's workload
	if kind, ok := beside["workload"]; ok && has("options") {
		text, _ := kind.Expr.Value(nil)
		named, _ := plainText(text)
		options = optionsOf(named)
	}
	below := func(option string) string {
		return "write it below options" + d.inSyntax(": {"+option+": …}", " { "+option+" = … }") + "."
	}
	if slices.Contains(options, name) {
		return "It is an option: " + below(name)
	}
	if other, ok := synonyms[name]; ok && has(other) {
		return "weir's name for it is " + other + "."
	}
	for _, k := range s.keys {
		if f, ok := k.Form(grammar.Scalar); ok && slices.Contains(f.Values, name) {
			pair := d.inSyntax(k.Name+": "+name, k.Name+" = \""+name+"\"")
			return "It is a value of " + k.Name + ": write " + pair + "."
		}
	}
	if slices.Contains(boundKeys, name) && has("that") {
		return "An assertion is a text: " + d.inSyntax("that: bandwidth >= 1 GB/s.", "that = \"bandwidth >= 1 GB/s\".")
	}
	if name == "hosts" {
		return "A scenario names no hosts: give them with weir run --hosts, and how ranks spread over them in place."
	}
	if hint := d.elsewhere(name, s.keys); hint != "" && s.isScenarioOrRun() {
		return hint
	}
	name = strings.ReplaceAll(name, "-", "_")
	if rest, is := runOptions[name]; is && s.isScenarioOrRun() {
		return "It is an option of weir run: --" + strings.ReplaceAll(name, "_", "-") + rest + "."
	}
	if near := suggest.Nearest(name, options); near != "" && suggest.Nearest(name, d.known(s)) == "" {
		return "Did you mean the option " + near + "? Then " + below(near)
	}
	return ""
}

// optionsOf are the names of a workload's options; none of an unknown workload.
func optionsOf(name string) (names []string) {
	if k, ok := workload.Lookup(name); ok {
		for _, o := range k.Options {
			names = append(names, o.Name)
		}
	}
	return names
}

// inSyntax is the text of the file's syntax.
func (d *decoder) inSyntax(yaml, hcl string) string {
	if d.yaml {
		return yaml
	}
	return hcl
}
