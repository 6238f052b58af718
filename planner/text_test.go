package planner

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/test/golden"
)

const shown = `
scenario: shown
description: everything that a plan can show
variables:
  peak: {type: bandwidth, default: 46.48 GB/s, description: what was validated}
cluster: {nodes: 2, distinct_hosts: true, gpus_per_node: 1}
checks:
  - {name: EFA provider, command: [fi_info, -p, efa]}
runs:
  bandwidth:
    workload: transfer
    options: {fabric: libfabric, initiator: dram, target: dram, iterations: '${axis.block_size > size("1MiB") ? 63 : 1008}'}
    env: {FI_PROVIDER: efa}
    launches: [3, 5, 8, 12]
    sweep: {block_size: [4KiB, 1MiB, 64MiB]}
    assert:
      - {name: peak, that: "bandwidth within 10% of ${var.peak} where block_size == 64MiB"}
      - {severity: warn, that: latency.avg <= 1500us where block_size >= 1MiB}
      - bandwidth increases with block_size
  single:
    workload: transfer
    needs: [bandwidth]
    launches: 3
    options: {block_size: 1MiB}
  small:
    workload: transfer
    when: block_size < 8KiB
    launches: 3
    sweep: {block_size: [4KiB, 8KiB], fabric: [shm, tcp]}
`

const variants = `scenario: variants
services:
  web:
    command: [server, --port, "${port.http}"]
    env: {MODE: plain}
    ready: {listens: "${port.http}"}
    url: "http://127.0.0.1:${port.http}"
    fresh: variant
  monitor: {command: [monitor]}
variants:
  baseline: a
  a: {env: {CLIENT: one, SAME: x}}
  b: {env: {CLIENT: two}, services: {web: {env: {MODE: fast}}}, options: {requests: 30}}
  c: {services: {web: {command: [server, --turbo, --port, "${port.http}"], proof: {log: turbo}}}}
runs:
  load:
    workload: serving
    services: [web, monitor]
    env: {ALL: every case}
    options: {url: "${service.web.url}", model: m, input: {tokens: "fixed:10"}, output: {tokens: "fixed:2"}, requests: 20}
    sweep: {variant: [a, b, c], concurrency: [1, 2]}
  bare:
    workload: transfer
    options: {fabric: shm, block_size: 64KiB}
    sweep: {env.LEVEL: [low, null], in_flight: [1, 2]}
`

// The text of a plan with matrices, a sequence and variants.
func TestTextsOfPlans(t *testing.T) {
	for name, scenario := range map[string]string{"traffic": traffic, "sequence": sequences, "variants": variants} {
		golden.Equal(t, filepath.Join("testdata", name, "plan.txt"), []byte(textOf(t, build(t, scenario))))
	}
}

func TestRenderings(t *testing.T) { renderings(t, build(t, shown), "plan") }

// everyConstruct is the plan of a scenario with every construct.
func everyConstruct(t *testing.T) *Plan {
	t.Helper()
	s, _, diags := dsl.LoadFile("testdata/every/main.yaml", dsl.Options{})
	if diags.HasErrors() {
		t.Fatal(render(diags))
	}
	p, diags := Build(s)
	if diags.HasErrors() {
		t.Fatal(render(diags))
	}
	return p
}

// The text of each construct.
func TestRenderingsOfEveryConstruct(t *testing.T) { renderings(t, everyConstruct(t), "every/plan") }

func renderings(t *testing.T, p *Plan, base string) {
	t.Helper()
	for ext, write := range map[string]func(io.Writer) error{".txt": p.Text, ".dot": p.Dot, ".mermaid": p.Mermaid} {
		name := base + ext
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, filepath.Join("testdata", name), []byte(b.String()))
	}
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, filepath.Join("testdata", base+".json"), b)
}

// An empty selection leaves every plan unchanged, and its digest is valid, also after writing and
// reading.
func TestEveryConstructIsSealed(t *testing.T) {
	p := everyConstruct(t)
	if err := p.Verify(); err != nil {
		t.Error(err)
	}
	q := everyConstruct(t)
	if err := q.Select(nil, nil); err != nil {
		t.Fatal(err)
	}
	equal(t, "after selecting all", q, p)
	saved(t, p)
}

// TestTextActsOnNoTerminal checks that the author's text is escaped.
func TestTextActsOnNoTerminal(t *testing.T) {
	p := build(t, "scenario: s\ndescription: \"a\\e[2Jb\\u202Ec\\u0085d\"\nruns:\n  a: {workload: transfer, options: {block_size: 4KiB}}\n")
	if text := textOf(t, p); !strings.Contains(text, "a\uFFFD[2Jb\uFFFDc\uFFFDd\n") ||
		strings.ContainsAny(text, "\x1b\u202E\u0085") {
		t.Errorf("%q", text)
	}
}

// The lines of a variable, such as a manifest, stand below its first one.
func TestTextIndentsVariablesOfSeveralLines(t *testing.T) {
	p := build(t, "scenario: s\nvariables: {m: {default: \"kind: A\\nspec:\\n  b: 1\\n\"}}\nruns:\n"+
		"  a: {workload: transfer, options: {block_size: 4KiB}}\n")
	text, want := textOf(t, p), "variable  m = kind: A\n          spec:\n            b: 1\ncluster "
	if !strings.Contains(text, want) {
		t.Errorf("%s\nhas no\n%s", text, want)
	}
}

// A structure that has the default in some cases says in which.
func TestTextNamesCasesWithTheDefaultOfAStructure(t *testing.T) {
	p := build(t, `scenario: lengths
runs:
  load:
    workload: serving
    sweep: {len: [128, 512], concurrency: [1, 4]}
    options: {url: "http://127.0.0.1:1", model: m, requests: 20, input: "${axis.len}"}
`)
	shows(t, p, "input    len=128: tokens: fixed:128\n           len=512: default\n")
}
