package dsl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/dsl/expression"
)

// loadText loads main.yaml among other files in memory.
func loadText(t *testing.T, src string, files map[string]string, vars map[string]string) *Scenario {
	t.Helper()
	s, _, diags := Load("main.yaml", []byte(src), Options{Env: testEnv, Read: memory(files), Vars: vars})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, src)
	}
	return s
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: -want +got %s", what, d)
	}
}

const withDefaults = `
scenario: s
defaults:
  timeout: {launch: 1m, ready: 5s, connect: 6s}
  retry: {times: 2, on: [crash], wait: 3s}
  options: {transfer: {block_size: 4KiB}}
runs:
  plain: {workload: transfer}
  time: {workload: transfer, timeout: 9s, retry: 0}
  phases: {workload: transfer, timeout: {ready: 7s, verify: 1s}, retry: 4}
`

func TestARunsTimeoutAndRetryWinOverTheDefaults(t *testing.T) {
	s := loadText(t, withDefaults, nil, nil)
	plain, single, phases := s.Runs[0], s.Runs[1], s.Runs[2]
	equal(t, "timeouts", []time.Duration{plain.Timeout, single.Timeout, phases.Timeout},
		[]time.Duration{time.Minute, 9 * time.Second, time.Minute})
	equal(t, "phases of the defaults", plain.Phases, map[string]time.Duration{
		"ready": 5 * time.Second, "connect": 6 * time.Second,
	})
	equal(t, "phases of the run", phases.Phases, map[string]time.Duration{
		"ready": 7 * time.Second, "connect": 6 * time.Second, "verify": time.Second,
	})
	equal(t, "retry of the defaults", plain.Retry, &Retry{Times: 2, On: []string{"crash"}, Wait: 3 * time.Second})
	equal(t, "no retry", single.Retry, (*Retry)(nil))
	equal(t, "retry of the run", phases.Retry, &Retry{
		Times: 4, On: []string{"setup", "ready", "connect", "crash", "timeout", "lost"},
	})
}

func TestWithoutAnythingNothingIsRetriedAndNoPhaseIsBounded(t *testing.T) {
	r := loadText(t, "scenario: s\nruns: {a: {workload: transfer, options: {block_size: 1}}}", nil, nil).Runs[0]
	if r.Retry != nil || r.Phases != nil || r.While != nil || r.Secrets != nil || r.Timeout != 5*time.Minute {
		t.Errorf("%+v", r)
	}
}

func argvs(list []*Command) string {
	var out []string
	for _, c := range list {
		out = append(out, c.Name+":"+strings.Join(c.Argv, " "))
	}
	return strings.Join(out, ", ")
}

func TestCommandsSurroundWhatTheirScopeSays(t *testing.T) {
	s := loadText(t, `
scenario: s
variables: {dir: {default: /mnt}}
setup:
  - [/bin/mount, "${var.dir}"]
  - {command: [sync], scope: run, on: first node}
  - {name: drop, command: [sync], scope: launch, env: {A: 1, T: '${secret("TOKEN")}'}, timeout: 2s}
teardown:
  - [umount, /mnt]
  - {command: [after], scope: run}
runs:
  a:
    workload: transfer
    options: {block_size: 1}
    setup: [[sync], {command: [own], scope: launch}]
    teardown: [[before], {command: [last], scope: launch}]
  b: {workload: transfer, options: {block_size: 1}}
`, nil, nil)
	a, b := s.Runs[0], s.Runs[1]
	for what, lists := range map[string][2]string{
		"setup":             {argvs(s.Setup), "mount:/bin/mount /mnt"},
		"teardown":          {argvs(s.Teardown), "umount:umount /mnt"},
		"setup of a":        {argvs(a.Setup), "sync:sync, sync 2:sync"},
		"launch setup of a": {argvs(a.LaunchSetup), "drop:sync, own:own"},
		"teardown of a":     {argvs(a.Teardown), "before:before, after:after"},
		"launch teardown":   {argvs(a.LaunchTeardown), "last:last"},
		"setup of b":        {argvs(b.Setup), "sync:sync"},
	} {
		equal(t, what, lists[0], lists[1])
	}
	c := a.LaunchSetup[0]
	equal(t, "env", c.Env, map[string]string{"A": "1"})
	equal(t, "secrets", c.Secrets, map[string]string{"T": "TOKEN"})
	equal(t, "the rest", []any{c.On, c.Timeout, a.Setup[0].On, a.Setup[0].Timeout},
		[]any{"every node", 2 * time.Second, "first node", time.Minute})
}

func needsOf(r *Run) string {
	var out []string
	for _, n := range r.Needs {
		out = append(out, n.Run+":"+n.On)
	}
	return strings.Join(out, " ")
}

func TestNeedsInAllForms(t *testing.T) {
	for written, want := range map[string]string{
		"b": "b:success", "[b, c]": "b:success c:success", "{run: b, on: failed}": "b:failed", "{run: b}": "b:success",
		"[c, {run: b, on: always}]": "c:success b:always", "${var.l}": "b:success c:success", "'${var.s}'": "b:success",
		"[]":                                "",
		"\n      run: b\n      on: success": "b:success",
	} {
		s := loadText(t, "scenario: s\nvariables: {l: {type: list, default: [b, c]}, s: {default: b}}\ndefaults: {options: {transfer: {block_size: 1}}}\nruns:\n  a:\n    workload: transfer\n    needs: "+
			written+"\n  b: {workload: transfer}\n  c: {workload: transfer}\n", nil, nil)
		equal(t, written, needsOf(s.Runs[0]), want)
	}
}

func TestLongFormIsLowered(t *testing.T) {
	r := loadText(t, `
scenario: s
runs:
  a:
    workload: transfer
    options: {block_size: 1}
    assert:
      - {that: bandwidth >= 1, halo: 2.5%, multiple: holm, decide: {confidence: 99%, on_inconclusive: warn}, xfail: {reason: " slow ", until: 2020-02-29}}
      - {that: bandwidth >= 2, multiple: none, decide: {on_inconclusive: inconclusive}}
`, nil, nil).Runs[0]
	resolved, _ := r.At(nil)
	full, diags := r.Asserts[0].Lower(Scope{Options: resolved.Options})
	plain, more := r.Asserts[1].Lower(Scope{Options: resolved.Options})
	if diags.HasErrors() || more.HasErrors() {
		t.Fatal(diags, more)
	}
	if full.Halo != 0.025 || full.Multiple != "holm" || full.Decide.Confidence != 0.99 ||
		full.Decide.OnInconclusive != "warn" || full.XFail.Reason != "slow" || full.XFail.Until != "2020-02-29" {
		t.Errorf("%+v %+v %+v", full, full.Decide, full.XFail)
	}
	if plain.Halo != 0 || plain.Multiple != "" || plain.Decide.OnInconclusive != "inconclusive" ||
		plain.XFail != nil {
		t.Errorf("%+v", plain)
	}
}

func TestSecretsAreNamedAndNeverRead(t *testing.T) {
	asked := map[string]bool{}
	env := func(name string) (string, bool) {
		asked[name] = true
		return map[string]string{"TOKEN": "hunter22", "OTHER": "hunter22"}[name], true
	}
	src := `
scenario: s
variables: {which: {default: OTHER}}
defaults:
  options: {transfer: {block_size: 1}}
  env: {A: '${secret("TOKEN")}', B: plain, C: '${secret("TOKEN")}'}
setup: [{command: [login], env: {P: '${secret("TOKEN")}'}}]
runs:
  a:
    workload: transfer
    env: {A: own, D: "${secret(\"file:/run/token\")}", E: '${ ( secret(var.which) ) }', H: '${env.HOME}'}
  b:
    workload: transfer
    sweep: {env.A: [x, y]}
`
	s, _, diags := Load("x.yaml", []byte(src), Options{Env: env})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	a, b := s.Runs[0], s.Runs[1]
	equal(t, "secrets of a", a.Secrets, map[string]string{"C": "TOKEN", "D": "file:/run/token", "E": "OTHER"})
	equal(t, "secrets of b", b.Secrets, map[string]string{"C": "TOKEN"})
	resolved, _ := a.At(nil)
	equal(t, "env of a", slices.Sorted(maps.Keys(resolved.Env)), []string{"A", "B", "H"})
	if asked["TOKEN"] || asked["OTHER"] || !asked["HOME"] {
		t.Error(asked)
	}
	if text := describe(s) + fmt.Sprintf("%+v", s); strings.Contains(text, "hunter22") {
		t.Error(text)
	}
}

func TestReferenceTablesAreInTheTextsOfCases(t *testing.T) {
	rows := "tables: {a: [{block_size: 4096, size: 1.0, bandwidth: 2, latency.p50: 3 us}, {block_size: 1MiB, size: 2, bandwidth: 3 MB/s, ceiling: 90%}], other: [{x: 1}]}"
	for name, src := range map[string]string{
		"inline":  "references: {a: [{block_size: 4096, size: 1.0, bandwidth: 2, latency.p50: 3 us}, {block_size: 1MiB, size: 2, bandwidth: 3 MB/s, ceiling: 90%}]}",
		"t.yaml":  "reference: t\n" + rows,
		"t.json":  "{\n\t\"reference\": \"t\", \"description\": \"d\",\n\t\"tables\": {\"a\": [{\"block_size\": 4096, \"size\": 1.0, \"bandwidth\": 2, \"latency.p50\": \"3 us\"},\n\t{\"block_size\": \"1MiB\", \"size\": 2, \"bandwidth\": \"3 MB/s\", \"ceiling\": \"90%\"}]}\n}",
		"d/t.yml": "reference: t\n" + rows,
	} {
		main, files := src, map[string]string{name: src}
		if name != "inline" {
			main = "references: " + name
		}
		g := newLoading("main.yaml", Options{Env: testEnv, Read: memory(files)})
		main = "scenario: s\n" + main + "\nruns: {a: {workload: transfer, sweep: {block_size: [4KiB, 1MiB], size: [1, 2]}, env: {S: '${axis.size}'}}}"
		file, diags := parse("main.yaml", []byte(main))
		l := newLoader(g, "main.yaml", []byte(main), diags, &evaluator{env: testEnv, functions: functions})
		m := l.scenario(file.Body, nil)
		content, _, _ := l.rootBlocks(file.Body)[0].Body.PartialContent(schema{sections: []string{"references"}}.hcl())
		got := l.referencesOf(m.runs).read(content)
		if len(g.diags)+len(l.diags) > 0 {
			t.Fatal(name, g.diags, l.diags)
		}
		want := []expression.ReferenceRow{
			{
				At:     map[string]string{"block_size": "4KiB", "size": "1"},
				Values: map[string]float64{"bandwidth": 2e9, "latency.p50": 3e-6},
			},
			{
				At:     map[string]string{"block_size": "1MiB", "size": "2"},
				Values: map[string]float64{"bandwidth": 3e6, "ceiling": 0.9},
			},
		}
		equal(t, name, got["a"].Rows, want)
		if got["other"] != nil {
			t.Error("a table of no run was kept")
		}
	}
}

func TestBaselineIsSeenFromTheFile(t *testing.T) {
	const run = "\nruns: {a: {workload: transfer, options: {block_size: 1}}}"
	for file, want := range map[string]string{
		"x.yaml": "old.json", "dir/x.yaml": "dir/old.json", "catalog:x.yaml": "old.json",
	} {
		s, _, diags := Load(file, []byte("scenario: s\nbaseline: old.json"+run), Options{})
		if diags.HasErrors() || s.Baseline != want {
			t.Errorf("%s: %v", file, diags)
		}
	}
}
