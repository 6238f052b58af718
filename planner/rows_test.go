package planner

import (
	"testing"
)

// If the sweep does not have the rows of a table, they become cases if the tool's command line
// determines them; otherwise the run has one case.
func TestRowsThatTheSweepDoesNotHave(t *testing.T) {
	p, diags := plan(t, "s.yaml", `
scenario: s
runs:
  table:
    workload: command
    options:
      etcd: true
      roles:
        target: {command: &bench [nixlbench, --etcd_endpoints, "${etcd.url}", --max_block_size, "16384"]}
        initiator: {after: [target], command: *bench}
      parse: {of: any, format: nixlbench, rows: block_size}
    sweep: {t: [a, b]}
    env: {T: "${axis.t}"}
    assert: [bandwidth within 10% of 0.85 where block_size == 16KiB]
  own:
    workload: command
    options:
      roles: {it: {command: [./bench.sh]}}
      parse: {of: it, lines: '^size=(?<block_size>\d+) bw=(?<bw>[\d.]+)$', rows: block_size}
      metrics: {bw: {unit: GB/s, better: higher}}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var keys []string
	for _, c := range p.Cases {
		if len(c.Assertions) > 0 {
			keys = append(keys, c.Key)
		}
	}
	equal(t, "judged", keys, []string{"table[block_size=16KiB,t=a]", "table[block_size=16KiB,t=b]"})
	equal(t, "cases", len(p.Cases), 7)
	equal(t, "groups", len(p.Groups), 3)
}
