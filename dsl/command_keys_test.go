package dsl

import (
	"fmt"
	"strings"
	"testing"
)

// An unknown key is reported at its place, with the nearest key.
func TestUnknownKeysOfStructures(t *testing.T) {
	const head = "scenario: s\nservices: {web: {command: [x], stop: {%s: 3s}}}\nruns:\n  r:\n    workload: command\n    services: [web]\n" +
		"    options: {roles: {c: {%s: [echo, a], ready: {%s: 'x:1'}}}, parse: {of: c, %s: 'x=(?<x>.)'}}\n    metrics: {x: {better: lower}}\n"
	right := []any{"within", "command", "listens", "lines"}
	for i, c := range []struct{ wrong, option string }{
		{"withn", "services.web.stop"}, {"comand", "roles.c"}, {"listen", "roles.c.ready"}, {"line", "parse"},
	} {
		keys := append([]any{}, right...)
		keys[i] = c.wrong
		src := fmt.Appendf(nil, head, keys...)
		_, _, diags := Load("s.yaml", src, Options{Env: testEnv})
		if len(diags) == 0 {
			t.Fatal(c.wrong, "is read")
		}
		d := diags[0]
		hint, _ := d.Extra.(Hint)
		if d.Detail != fmt.Sprintf("Option %s.%s: there is no such key.", c.option, c.wrong) ||
			!strings.HasPrefix(string(hint), fmt.Sprintf("Did you mean %q? The keys are ", right[i])) ||
			string(d.Subject.SliceBytes(src)) != c.wrong {
			t.Errorf("%q at %q; %s", d.Detail, d.Subject.SliceBytes(src), hint)
		}
	}
}

// Metrics of a run of programs are also allowed in its options.
func TestMetricsInOptions(t *testing.T) {
	const head = "scenario: s\nruns:\n  r:\n    workload: %s\n    options: {%s, metrics: {x: {unit: s, better: lower}}}\n%s"
	const command = "roles: {c: {command: [echo, a]}}, parse: {of: c, lines: 'x=(?<x>.)'}"
	for _, c := range []struct{ workload, options, more, want string }{
		{"command", command, "    assert: [x <= 3s]\n", ""},
		{"command", command, "    metrics: {x: {unit: s}}\n", "has metrics both in its options and beside them."},
		{"command", strings.ReplaceAll(command, "<x>", "<y>"), "", `metrics declares "x", which parse does not find`},
		{"transfer", "block_size: 4KiB", "", `Workload transfer has no option "metrics".`},
	} {
		_, _, diags := Load("s.yaml", fmt.Appendf(nil, head, c.workload, c.options, c.more), Options{Env: testEnv})
		said := ""
		for _, d := range diags {
			said += d.Detail
		}
		if c.want == "" && said != "" || !strings.Contains(said, c.want) {
			t.Errorf("%+v: %s", c, said)
		}
	}
}

// The error of a missing option has the first sentence of its documentation. Where a key may be meant to be the
// options, it is the only error.
func TestMissingOptionsAreToldInShort(t *testing.T) {
	const requires = ", which workload command requires."
	for key, want := range map[string]struct {
		says, not string
	}{
		"options: {wait: 1s}": {requires, ""},
		"option: {roles: {c: {command: [echo, a]}}}": {
			`There is no "option" in a run. Did you mean "options"?`, requires,
		},
	} {
		src := []byte("scenario: s\nruns:\n  r:\n    workload: command\n    " + key + "\n")
		_, _, diags := Load("s.yaml", src, Options{Env: testEnv})
		said := ""
		for _, d := range diags {
			said += fmt.Sprint(d.Detail, " ", d.Extra, "\n")
		}
		if !strings.Contains(said, want.says) || want.not != "" && strings.Contains(said, want.not) || len(said) > 800 {
			t.Errorf("%s: %s", key, said)
		}
	}
}
