package dsl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

const nestedInclude = `
scenario: main
variables: {big: {type: size, default: 1MiB}}
include:
  - {file: lib/net.hcl, as: net, runs: [last], variables: {size: "${var.big}", list: [a, b]}}
  - plain.yaml
cluster: {nodes: 2}
checks: {own: {command: [own]}}
setup: [[mount], {command: [sync], scope: run}]
teardown: [[umount]]
runs:
  a: {workload: transfer, options: {block_size: 1}, needs: [net.last, p], while: net.first}
`

var nestedFiles = map[string]string{
	"lib/net.hcl": `
scenario "net" {
  include = [{ file = "deep.yaml", as = "deep" }]
  variable "size" {
    type    = "size"
    default = "4KiB"
  }
  variable "list" { type = "list" }
  cluster { gpus_per_node = 1 }
  defaults { timeout = "7s" }
  check "own" { command = [var.list[0]] }
  setup    = [["mount"], { command = ["drop"], name = "drop", scope = "run" }]
  teardown = [["unload"]]
  run "unused" {
    workload = "transfer"
    options { block_size = var.size }
  }
  run "first" {
    workload = "transfer"
    options { block_size = var.size }
  }
  run "last" {
    workload = "transfer"
    needs    = [{ run = "first", on = "always" }, "deep.bottom"]
    options { block_size = var.size }
  }
}`,
	"lib/deep.yaml": "scenario: deep\nvariables: {n: {type: number, default: 3}}\nbaseline: base.json\nruns:\n  bottom: {workload: transfer, options: {block_size: 1, batch: '${var.n}'}}\n",
	"plain.yaml":    "scenario: plain\nvariables: {big: {default: hidden}}\ncluster: {nodes: 1, distinct_hosts: true}\nruns:\n  p: {workload: transfer, options: {block_size: 1}, env: {B: '${var.big}'}}\n",
}

func TestIncludedFilesKeepTheirOwnNames(t *testing.T) {
	s := loadText(t, nestedInclude, nestedFiles, map[string]string{"net.deep.n": "5"})
	var names []string
	for _, r := range s.Runs {
		names = append(names, r.Name+"("+needsOf(r)+")")
	}
	equal(t, "runs", strings.Join(names, " "), "net.deep.bottom() net.first() net.last(net.first:always net.deep.bottom:success) p() a(net.last:success p:success)")
	at := func(i int) Resolved {
		resolved, diags := s.Runs[i].At(nil)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return resolved
	}
	equal(t, "options and env", []any{fmt.Sprint(at(0).Options["batch"]), fmt.Sprint(at(1).Options["block_size"]),
		at(3).Env["B"]}, []any{"5", "1MiB", "hidden"})
	equal(t, "timeout of the included defaults", s.Runs[1].Timeout.String()+" "+s.Runs[4].Timeout.String(), "7s 5m0s")
	equal(t, "while", s.Runs[4].While.Run, "net.first")
	equal(t, "cluster", s.Cluster, Cluster{Nodes: 2, DistinctHosts: true, GPUsPerNode: 1, Counted: true})
	var checks []string
	for _, c := range s.Checks {
		checks = append(checks, c.Name+":"+strings.Join(c.Command, " "))
	}
	equal(t, "checks", strings.Join(checks, ", "), "own:own, net.own:a")
	equal(t, "setup", argvs(s.Setup), "mount:mount, mount 2:mount")
	equal(t, "teardown", argvs(s.Teardown), "unload:unload, umount:umount")
	equal(t, "setup of an included run", argvs(s.Runs[1].Setup), "sync:sync, net.drop:drop")
	equal(t, "setup of an own run", argvs(s.Runs[4].Setup), "sync:sync")
	var variables []string
	for _, v := range s.Variables {
		variables = append(variables, v.Name+"="+v.Text)
	}
	equal(t, "variables", strings.Join(variables, " "), "big=1MiB net.size=1MiB net.list=[a, b] net.deep.n=5")
	equal(t, "baseline", s.Baseline, "lib/base.json")
}

// Find answers with the name that was asked for.
type askedRuns struct{}

func (askedRuns) Find(run string, _ map[string]string, _ *Condition) []string { return []string{run} }

func (askedRuns) Scope(string) (Scope, bool) { return Scope{}, false }

func TestAssertionsOfIncludedFilesFindTheirOwnRuns(t *testing.T) {
	const inner = "scenario: in\ndefaults: {options: {transfer: {block_size: 1}}}\nruns: {first: {workload: transfer}, last: {workload: transfer, assert: [bandwidth >= 1]}}"
	s := loadText(t, "scenario: s\ninclude: [{file: in.yaml, as: x}]\nruns: {first: {workload: transfer, options: {block_size: 1}}}",
		map[string]string{"in.yaml": inner}, nil)
	scope := s.Runs[1].Asserts[0].withRunNames(Scope{Cases: askedRuns{}})
	equal(t, "run", scope.Cases.Find("first", nil, nil), []string{"x.first"})
}

func TestIncludeReadsFilesBesideTheIncludingOne(t *testing.T) {
	dir := t.TempDir()
	for name, src := range map[string]string{
		"main.yaml":    "scenario: m\ninclude: sub/a.yaml\nreferences: sub/r.json\nruns: {m: {workload: transfer, options: {block_size: 1}}}",
		"sub/a.yaml":   "scenario: a\ninclude: [../b.hcl]\nruns: {a: {workload: transfer, options: {block_size: 1}, needs: b}}",
		"sub/r.json":   `{"reference": "r", "tables": {"m": [{"bandwidth": 1}]}}`,
		"b.hcl":        "scenario \"b\" {\nrun \"b\" {\nworkload = \"transfer\"\noptions { block_size = 1 }\n}\n}",
		"sub/big.yaml": "#" + strings.Repeat("x", maxSource),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, sources, diags := LoadFile(filepath.Join(dir, "main.yaml"), Options{})
	if diags.HasErrors() || len(s.Runs) != 3 || len(sources) != 4 {
		t.Fatal(diags, len(sources))
	}
	_, _, diags = Load(filepath.Join(dir, "x.yaml"), []byte("scenario: x\ninclude: sub/big.yaml\n"), Options{})
	if len(diags) != 1 || diags[0].Summary != "File too large" || diags[0].Subject.Start.Line != 2 {
		t.Error(diags)
	}
}

// A file sets inconclusive itself, or takes it from the files that it includes, if they agree.
func TestIncludedPolicies(t *testing.T) {
	const run = "runs: {%s: {workload: transfer, options: {block_size: 1}}}\n"
	part := func(name, policy string) string {
		return "scenario: " + name + "\n" + policy + fmt.Sprintf(run, name)
	}
	for name, c := range map[string]struct{ own, a, b, as, wrong string }{
		"nobody":          {"", "", "", "", ""},
		"one":             {"", "", "inconclusive: warn\n", "warn", ""},
		"both, alike":     {"", "inconclusive: warn\n", "inconclusive: warn\n", "warn", ""},
		"both, otherwise": {"", "inconclusive: warn\n", "inconclusive: fail\n", "", "Second policy"},
		"the file itself": {"inconclusive: pass\n", "inconclusive: warn\n", "inconclusive: fail\n", "pass", ""},
	} {
		files := map[string]string{"a.yaml": part("a", c.a), "b.yaml": part("b", c.b)}
		s, _, diags := Load("main.yaml", []byte("scenario: m\ninclude: [a.yaml, b.yaml]\n"+c.own),
			Options{Read: memory(files)})
		if wrong := diags.HasErrors(); wrong != (c.wrong != "") || wrong && diags[0].Summary != c.wrong ||
			!wrong && s.Inconclusive.As != c.as {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

func TestIncludeCyclesAreShownAsAPath(t *testing.T) {
	files := map[string]string{
		"main.yaml":  "scenario: m\ninclude: d/../one.yaml\n",
		"one.yaml":   "scenario: one\ninclude: [d/two.yaml]\n",
		"d/two.yaml": "scenario: two\ninclude: [{file: ../one.yaml, as: x}]\n",
	}
	s, sources, diags := Load("main.yaml", []byte(files["main.yaml"]), Options{Read: memory(files)})
	if s != nil || len(diags) != 1 || diags[0].Detail != "The cycle one.yaml → d/two.yaml → one.yaml." ||
		diags[0].Subject.Filename != "d/two.yaml" {
		t.Fatal(diags)
	}
	checkPlaces(t, sources, diags)
}

func TestErrorsComeByFileTheMainOneFirst(t *testing.T) {
	files := map[string]string{
		"a.yaml": "scenario: a\nruns:\n  x: {workload: transfer, options: {block_size: 0}}\n  y: {workload: transfr}\n",
		"b.yaml": "scenario: b\nruns:\n  z: {workload: transfer, options: {block_size: 1}, needs: q}\n",
	}
	main := "scenario: m\ninclude: [a.yaml, b.yaml]\nruns:\n  m: {workload: transfer, options: {block_size: 1, bach: 2}}\n"
	_, sources, diags := Load("m.yaml", []byte(main), Options{Read: memory(files)})
	var got []string
	for _, d := range diags {
		got = append(got, fmt.Sprintf("%s:%d", d.Subject.Filename, d.Subject.Start.Line))
	}
	equal(t, "places", strings.Join(got, " "), "m.yaml:4 a.yaml:3 a.yaml:4 b.yaml:3")
	checkPlaces(t, sources, diags)
	var b bytes.Buffer
	if err := WriteDiagnostics(&b, "text", diags, sources); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--> a.yaml:4:17, in run y", "y: {workload: transfr}", "--> b.yaml:3:60, in run z"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &b)
		}
	}
}

// Errors that follow from an unreadable file are not reported.
func TestAnIncludeThatFailsIsOneError(t *testing.T) {
	files := map[string]string{"bad.yaml": "scenario: x\nruns: [", "bad.hcl": "scenario \"x\" {\n a = \"b\n}"}
	for _, file := range []string{"none.yaml", "bad.yaml", "bad.hcl"} {
		src := "scenario: m\ninclude: [{file: " + file +
			", as: g}]\nruns:\n  m: {workload: transfer, options: {block_size: 1}, needs: g.x, while: g.y}\n"
		_, _, diags := Load("m.yaml", []byte(src), Options{Read: memory(files)})
		if len(diags) != 1 {
			t.Errorf("%s: %v", file, diags)
		}
	}
}

func TestVariablesOfIncludedFilesFromTheCommandLine(t *testing.T) {
	const inner = "scenario: in\nvariables: {n: {type: number, validation: {condition: var.n > 0, message: must count}}}\nruns: {i: {workload: transfer, options: {block_size: 1, batch: '${var.n}'}}}"
	load := func(include string, vars map[string]string) (*Scenario, hcl.Diagnostics) {
		s, _, diags := Load("m.yaml", []byte("scenario: m\ninclude: "+include), Options{
			Read: memory(map[string]string{"in.yaml": inner}), Vars: vars,
		})
		return s, diags
	}
	const as = "[{file: in.yaml, as: in, variables: {n: 2}}]"
	s, diags := load(as, map[string]string{"in.n": "7"})
	if diags.HasErrors() || s.Variables[0].Text != "7" {
		t.Error(diags)
	}
	for _, c := range []struct{ include, name, value, says, hint string }{
		{as, "in.k", "7", "declares no variable \"in.k\"", "The variables are n."},
		{as, "im.n", "7", "no included file has the prefix \"im\"", "Did you mean \"in\"?"},
		{as, "in.n", "-1", "--var in.n=-1: Must count.", "must satisfy var.n > 0"},
		{as, "in.n", "x", "--var in.n=x does not fit type number", ""},
		{"[{file: in.yaml, as: in}]", "", "", "Variable \"n\" has no default", "--var in.n=…"},
		{"in.yaml", "", "", "Variable \"n\" has no default", "variables of the include"},
	} {
		vars := map[string]string{}
		if c.name != "" {
			vars[c.name] = c.value
		}
		_, diags := load(c.include, vars)
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, c.says) {
			t.Errorf("%+v: %v", c, diags)
			continue
		}
		if hint, _ := diags[0].Extra.(Hint); !strings.Contains(string(hint), c.hint) {
			t.Errorf("%+v: %s", c, hint)
		}
	}
}

func TestAChosenRunBringsItsBackgroundLoad(t *testing.T) {
	const inner = `
scenario: in
defaults: {options: {transfer: {block_size: 1}}}
runs:
  x: {workload: transfer}
  base: {workload: transfer}
  load: {workload: transfer, while: x, needs: base}
  other: {workload: transfer}
  noise: {workload: transfer, while: other}
`
	s := loadText(t, "scenario: s\ninclude: [{file: in.yaml, runs: [x]}]", map[string]string{"in.yaml": inner}, nil)
	var names []string
	for _, r := range s.Runs {
		names = append(names, r.Name)
	}
	equal(t, "runs", strings.Join(names, " "), "x base load")
}
