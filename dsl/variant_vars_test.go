package dsl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// In a run that sweeps variants, texts have the variables of the variant; in other runs, and for
// variables that the variant does not set, those of the scenario or the command line.
func TestVariablesFollowVariants(t *testing.T) {
	const src = `
scenario: s
variables:
  w: {default: "1"}
  size: {type: size, default: 4KiB}
  list: {type: list, default: [x, y]}
services:
  web: {command: [serve, "${var.w}", "${port.http}"]}
variants:
  baseline: a
  a: {p: "p${var.w}", note: as it is}
  b: {vars: {w: 2, size: 65536, list: [z]}, p: "p${var.w}", env: {E: "e${var.w}"}, services: {web: {env: {S: "${var.size}"}}}}
  "3": {vars: {w: 3, size: 8KiB}, p: "p3"}
runs:
  swept:
    workload: command
    services: [web]
    env: {V: "${var.w}", L: '${join("+", var.list)}', P: "${variant.p}"}
    options: {roles: {c: {command: [x, "${var.w}-${var.size}"]}}}
    sweep: {variant: [a, b, "3"]}
  apart:
    workload: transfer
    stage: stage ${var.w}
    setup: [[echo, "${var.w}"]]
    options: {block_size: "${var.size}", in_flight: "${var.w}"}
    sweep: {batch: ["${var.w}"]}
    assert: ["bandwidth >= ${var.w}"]
`
	s, _, diags := Load("s.yaml", []byte(src), Options{Env: testEnv, Vars: map[string]string{"w": "7"}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := map[string][]string{
		"roles": {`"7-4KiB"`, `"2-64KiB"`, `"3-8KiB"`}, "V": {"7", "2", "3"},
		"L": {"x+y", "z", "x+y"}, "P": {"p7", "p2", "p3"},
		"services": {`"serve","7"`, `"serve","2"`, `"serve","3"`}, "E": {"<nil>", "e2", "<nil>"},
	}
	for _, setting := range s.Runs[0].Settings() {
		for i, v := range s.Runs[0].Axes[0].Values {
			if _, ok := want[setting.Name]; !ok {
				continue
			}
			value, diags := setting.Value([]AxisValue{v})
			if got := fmt.Sprint(value); diags.HasErrors() || !strings.Contains(got, want[setting.Name][i]) {
				t.Errorf("%s in %s: %s, %v", setting.Name, v.Text, got, diags)
			}
			inB := strings.Contains(fmt.Sprint(value), `"S":"64KiB"`)
			if inB != (setting.Name == "services" && v.Text == "b") {
				t.Errorf("%s in %s: %v", setting.Name, v.Text, value)
			}
		}
	}
	for _, setting := range s.Runs[1].Settings() {
		value, _ := setting.Value(make([]AxisValue, len(setting.Axes)))
		if setting.Name == "in_flight" && fmt.Sprint(value) != "7" {
			t.Errorf("in_flight of a run without variants: %v", value)
		}
	}
	if r := s.Runs[1]; r.Stage != "stage 7" || !slices.Equal(r.Setup[0].Argv, []string{"echo", "7"}) {
		t.Errorf("%s, %v", r.Stage, r.Setup[0].Argv)
	}
}

func TestWhatIsWrongWithVariablesOfVariants(t *testing.T) {
	const head = "scenario: s\n%s\nvariables:\n" +
		"  w: {type: number, default: 1, validation: {condition: var.w < 5}}\n" +
		"  top: {default: 9, type: number, validation: {condition: var.top > var.w}}\n" +
		"  t: {default: x}\nvariants: {a: {}, b: {%s}}\nruns:\n  r:\n" +
		"    workload: transfer\n    options: {block_size: 4KiB, in_flight: '${var.w}'}\n    sweep: {variant: [a, b]%s}\n%s"
	const once = "Variants set var.w, but this text is the same for all variants."
	for _, c := range []struct{ top, vars, sweep, more, want string }{
		{"", "vars: {ww: 2}", "", "", `The scenario declares no variable "ww", but variant "b" sets it. Did you mean "w"?`},
		{"", "vars: {w: many}", "", "", `The value does not fit type number: "many" is not a plain number.`},
		{"", "vars: {w: 6}", "", "", `The value of w does not satisfy var.w < 5.`},
		{"", "vars: {w: 2, top: 2}", "", "", `The value of top does not satisfy var.top > var.w.`},
		{"", "vars: {w: '${run(\"q\").bandwidth}'}", "", "",
			`Variable "w" cannot be checked before the run has a result.`},
		{"", "vars: {w: 2, t: '${var.w}'}", "", "", once},
		{"", "vars: {w: 2}", ", batch: ['${var.w}']", "", once},
		{"", "vars: {w: 2}", "", "    assert: ['bandwidth >= ${var.w}']", once},
		{"", "vars: {w: 2}", "", "    setup: [[echo, '${var.w}']]", once},
		{"", "vars: {w: 2}", "", "    stage: '${var.w}'", once},
		{"", "vars: {w: 2}", "", "    needs: ['${var.w}']", once},
		{"", "vars: {w: 2}", "", "    when: '${var.w} > 1'", once},
		{"", "vars: {w: 2}", "", "    launches: '${var.w}'", once},
		{"description: of ${var.w}", "vars: {w: 2}", "", "", once},
		{"setup: [[echo, '${var.w}']]", "vars: {w: 2}", "", "", once},
		{"include: [{file: x.yaml, variables: {a: '${var.w}'}}]", "vars: {w: 2}", "", "", once},
		{"checks: {c: {command: ['${var.w}']}}", "vars: {w: 2}", "", "", once},
	} {
		_, _, diags := Load("s.yaml", fmt.Appendf(nil, head, c.top, c.vars, c.sweep, c.more), Options{Env: testEnv})
		said := ""
		for _, d := range diags {
			hint, _ := d.Extra.(Hint)
			said += d.Detail + " " + string(hint)
		}
		if !strings.Contains(said, c.want) {
			t.Errorf("%+v: %s", c, said)
		}
	}
}

// A note in braces may have a comma. Misspelt and unused keys of variants are reported.
func TestKeysOfVariants(t *testing.T) {
	const head = "scenario: s\nvariables: {w: {default: x}}\nvariants: {%s}\nruns:\n  r:\n" +
		"    workload: command\n    options: {roles: {c: {command: [echo, '${variant.x}', '${variant[\"m\"]}']}}}\n    sweep: {variant: [a]}\n"
	for _, c := range []struct{ variants, want string }{
		{"a: {x: 1, m: 1, note: NIXL over UCX on EFA, document 004, and more}", ""},
		{"a: {x: 1, m: {k: v}, note: NIXL}", "it is a mapping, not a text"},
		{"a: {x: 1, m: 1, document 004}", `"document 004" is not a valid name of a value.`},
		{"a: {x: 1, m: 1, option: {etcd: true}}",
			`A variant has no key "option", and nothing uses ${variant.option}. Did you mean "options"? The keys ` +
				"of a variant are vars, env, options, services, note."},
		{"a: {x: 1, m: 1, variables: {w: y}}", `A variant has no key "variables"`},
		{"a: {x: 1, m: 1, y: 2}", `warning: Nothing in the file uses variant.y. Mention it as ${variant.y}.`},
		{"a: {x: 1, m: 1, w: 2}", "Mention it as ${variant.w}, or write vars: {w: …} to set the variable."},
		{"a: {x: 1, m: 1, vars: {w: 2}}", `warning: Nothing in the file uses var.w.`},
		{"a: {x: 1, m: 1, options: {etc: true}}",
			`No workload of a run that sweeps variant has an option "etc". Did you mean "etcd"?`},
		{"a: {x: 1, m: 1, options: {etcd: true}}", ""},
	} {
		_, _, diags := Load("s.yaml", fmt.Appendf(nil, head, c.variants), Options{Env: testEnv})
		said := ""
		for _, d := range diags {
			hint, _ := d.Extra.(Hint)
			if d.Severity != 1 {
				said += "warning: "
			}
			said += d.Detail + " " + string(hint)
		}
		if c.want == "" && said != "" || !strings.Contains(said, c.want) {
			t.Errorf("%+v: %s", c, said)
		}
	}
}

// A variable without a type may be a value of a run in a variant; that run then comes first.
func TestVariablesOfVariantsMayBeValuesOfRuns(t *testing.T) {
	s, _, diags := Load("s.yaml", []byte(`
scenario: s
variables: {b: {default: "1"}}
variants: {m: {vars: {b: '${run("fabric").bandwidth}'}}, f: {}}
runs:
  fabric: {workload: transfer, options: {block_size: 4KiB}}
  load:
    workload: command
    options: {roles: {c: {command: [echo, "of ${var.b}"]}}}
    sweep: {variant: [m, f]}
`), Options{Env: testEnv})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	r := s.Runs[1]
	if r.need("fabric") == nil {
		t.Error("the run does not wait for the other")
	}
	for i, want := range []string{`"of ${run(\"fabric\").bandwidth}"`, `"of 1"`} {
		got, diags := r.Settings()[0].Value(r.Axes[0].Values[i : i+1])
		if diags.HasErrors() || !strings.Contains(fmt.Sprint(got), want) {
			t.Errorf("%v, %v", got, diags)
		}
	}
}
