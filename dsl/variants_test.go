package dsl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Values, variables and options of a run follow the variant; others keep the run's value.
func TestSettingsFollowVariants(t *testing.T) {
	const src = `
scenario: s
variants:
  baseline: a
  a: {x: 1, note: the first}
  b: {x: 2, env: {V: two}, options: {batch: 4}}
  c: {x: 3, env: {V: "3", W: w}}
runs:
  r:
    workload: transfer
    options: {block_size: 4KiB, in_flight: "${variant.x}", batch: 2}
    env: {V: one}
    sweep: {variant: [a, b, c]}
`
	s, _, diags := Load("s.yaml", []byte(src), Options{Env: testEnv})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := map[string][]string{
		"in_flight": {"1", "2", "3"}, "batch": {"2", "4", "2"}, "V": {"one", "two", "3"}, "W": {"<nil>", "<nil>", "w"},
	}
	r := s.Runs[0]
	for _, setting := range r.Settings() {
		values, ok := want[setting.Name]
		if !ok {
			continue
		}
		delete(want, setting.Name)
		var got []string
		for _, v := range r.Axes[0].Values {
			value, diags := setting.Value([]AxisValue{v})
			if diags.HasErrors() {
				t.Error(diags)
			}
			got = append(got, fmt.Sprint(value))
		}
		if !slices.Equal(got, values) {
			t.Errorf("%s: %v", setting.Name, got)
		}
	}
	if len(want) > 0 {
		t.Errorf("not set: %v", want)
	}
}

// Texts of programs may use metrics of other runs, which then come first.
func TestValuesOfRuns(t *testing.T) {
	const head = "scenario: s\nvariants: {m: {b: '${run(\"fabric\", block_size == 4KiB).bandwidth}'}, f: {b: 1}}\nruns:\n" +
		"  fabric: {workload: transfer, sweep: {block_size: [4KiB, 8KiB]}}\n  load:\n    workload: command\n    options: {roles: {c: {command: [x, '%s']}}%s}\n    sweep: {variant: [m, f]}\n"
	load := func(text, more string) (*Scenario, string) {
		s, _, diags := Load("s.yaml", fmt.Appendf(nil, head, text, more), Options{Env: testEnv})
		said := ""
		for _, d := range diags {
			said += d.Detail
		}
		return s, said
	}
	s, said := load(`${variant.b} ${run("fabric", block_size == 8KiB).latency.p50}`, "")
	if s == nil {
		t.Fatal(said)
	}
	r := s.Runs[1]
	if r.need("fabric") == nil {
		t.Error("the run does not wait for the other")
	}
	want := map[string]string{
		"m": `"${run(\"fabric\", block_size == 4KiB).bandwidth} ${run(\"fabric\", block_size == 8KiB).latency.p50}"`,
		"f": `"1 ${run(\"fabric\", block_size == 8KiB).latency.p50}"`,
	}
	for _, v := range r.Axes[0].Values {
		for _, setting := range r.Settings() {
			if setting.Name == "roles" {
				if got, diags := setting.Value([]AxisValue{v}); diags.HasErrors() ||
					!strings.Contains(got.(string), want[v.Text]) {
					t.Errorf("%s: %v, %v", v.Text, got, diags)
				}
			}
		}
	}
	for _, c := range []struct{ text, more, want string }{
		{`${run("fabrik").bandwidth}`, "", `There is no run "fabrik"`},
		{`${run("fabric").bandwith}`, "", `Run "fabric" has no metric "bandwith"`},
		{`${run("fabric", blocksize == 4KiB).bandwidth}`, "", `has no option "blocksize"`},
		{`${run("load").elapsed}`, "", "would wait for itself"},
		{`${variant.b}`, `, row: '${run("fabric").bandwidth}'`, `row depends on the result of a run`},
	} {
		if _, said := load(c.text, c.more); !strings.Contains(said, c.want) {
			t.Errorf("%+v: %s", c, said)
		}
	}
}

func TestWhatIsWrongWithVariants(t *testing.T) {
	const head = "scenario: s\nvariants: {%s}\nruns:\n  r:\n    workload: transfer\n    options: {block_size: 4KiB%s}\n    sweep: {%s}\n    assert: [%s]\n"
	const two, swept, fits = "baseline: a, a: {x: 1}, b: {x: 2}", "variant: [a, b]", "bandwidth >= 1"
	const used = ", in_flight: \"${variant.x}\""
	for _, c := range []struct{ variants, options, sweep, assert, want string }{
		{"baseline: z, a: {x: 1}", used, "variant: [a]", fits, `There is no variant "z".`},
		{"baseline: [a, z], a: {x: 1}", used, "variant: [a]", fits, `There is no variant "z".`},
		{two, used, "variant: [a, z]", fits, `There is no variant "z".`},
		{two, "", swept, fits, "neither options nor env of the run use axis.variant"},
		{two, used, "batch: [1, 2]", fits, "variant.x has no value here"},
		{two, `, in_flight: "${variant.y}"`, swept, fits, `No variant has "y".`},
		{"a: {x: 1}, b: {}", used, swept, fits, `Variant "b" does not have this value.`},
		{"a: {x: 1, vars: {x: 2}}", used, "variant: [a]", fits, `declares no variable "x"`},
		{"a: {options: {batch: many}}", "", "variant: [a]", fits, "Option batch:"},
		{"a: {options: {batch: 1}}, b: {}", "", "variant: [a, b], batch: [1, 2]", fits,
			`Option "batch" is also set by variants.`},
		{"a: {x: 1}, b: {x: 2}", used, swept, "gain(bandwidth) >= 1%", "the scenario has no variants with a baseline"},
		{two, "", "batch: [1, 2]", "gain(bandwidth) >= 1%", "the run has no axis variant"},
		{two, used, swept, "gain(requests) >= 1%", "requests has no better direction"},
		{two, used, swept, "gain() >= 1%", "gain takes one metric"},
		{two, used, swept, "at(variant == \"a\") >= 1", "no metric follows at()"},
		{two, used, swept, "at().bandwidth >= 1", "a condition is missing in at()"},
		{two, used, swept, "at(batch == 1).bandwidth >= 1", "the condition has no axis"},
		{two, used, swept, "all(at(variant == \"a\").bandwidth >= 1)", "judges each case separately"},
	} {
		s, _, diags := Load("s.yaml", fmt.Appendf(nil, head, c.variants, c.options, c.sweep,
			fmt.Sprintf("%q", c.assert)), Options{Env: testEnv})
		said := diags.Error()
		if s != nil {
			for _, setting := range s.Runs[0].Settings() {
				for _, v := range s.Runs[0].Axes[0].Values {
					if len(setting.Axes) > 0 {
						_, more := setting.Value([]AxisValue{v})
						said += more.Error()
						for _, d := range more {
							said += d.Detail
						}
					}
				}
			}
		}
		for _, d := range diags {
			said += d.Detail
		}
		if !strings.Contains(strings.ToLower(said), strings.ToLower(c.want)) {
			t.Errorf("%+v: %s", c, said)
		}
	}
}

// Of several baselines, that of a run is the first that it sweeps.
func TestBaselinesOfRuns(t *testing.T) {
	src := `scenario: s
variants: {baseline: [a, c], a: {x: 1}, b: {x: 2}, c: {x: 3}, d: {x: 4}}
runs:
  first: {workload: transfer, options: {block_size: "${variant.x}"}, sweep: {variant: [b, a, c]}}
  second: {workload: transfer, options: {block_size: "${variant.x}"}, sweep: {variant: [d, c]}, assert: [gain(bandwidth) >= 1%]}
  none: {workload: transfer, options: {block_size: "${variant.x}"}, sweep: {variant: [b, d]}}
`
	s, _, diags := Load("s.yaml", []byte(src), Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for i, want := range []string{"a", "c", ""} {
		if got := s.Runs[i].BaselineVariant(); got != want {
			t.Errorf("run %s: %q, want %q", s.Runs[i].Name, got, want)
		}
	}
}
