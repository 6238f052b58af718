package planner

import (
	"io"
	"strings"
	"testing"
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
    options: {fabric: libfabric, initiator: vram, target: vram, iterations: '${axis.block_size > size("1MiB") ? 63 : 1008}'}
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

func TestRenderings(t *testing.T) {
	p := build(t, shown)
	for name, write := range map[string]func(io.Writer) error{"plan.txt": p.Text, "plan.dot": p.Dot, "plan.mermaid": p.Mermaid} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.String())
	}
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "plan.json", string(b))
}

// TestTextActsOnNoTerminal: what an author writes stays text.
func TestTextActsOnNoTerminal(t *testing.T) {
	p := build(t, "scenario: s\ndescription: \"a\\e[2Jb\\u202Ec\\u0085d\"\nruns:\n  a: {workload: transfer, options: {block_size: 4KiB}}\n")
	var b strings.Builder
	if err := p.Text(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "a\uFFFD[2Jb\uFFFDc\uFFFDd\n") || strings.ContainsAny(b.String(), "\x1b\u202E\u0085") {
		t.Errorf("%q", b.String())
	}
}
