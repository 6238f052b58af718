package planner

import "testing"

func TestCost(t *testing.T) {
	for _, c := range []struct {
		name, run string
		want      Range
	}{
		{"sequential", "launches: [3, 5, 8, 12]\n    assert: [bandwidth >= 1 GB/s]", Range{3, 8, 12}},
		{"exactly", "launches: 5\n    assert: [bandwidth >= 1 GB/s]", Range{5, 5, 5}},
		{"nothing to decide", "launches: [3, 5, 8, 12]", Range{3, 3, 3}},
		{"only for information", "launches: [3, 5, 8, 12]\n    assert: [{that: bandwidth >= 1 GB/s, severity: info}]",
			Range{3, 3, 3}},
		{"another run is compared with it", "launches: [3, 5, 8, 12]\n  b:\n    workload: transfer\n" +
			"    options: {block_size: 4KiB}\n    launches: [3, 5, 8, 12]\n    assert:\n" +
			"      - bandwidth >= 0.5 * run(\"a\", block_size == 4KiB).bandwidth", Range{6, 8, 24}},
		{"trend", "launches: [3, 5, 8, 12]\n    assert: [bandwidth increases with block_size]", Range{3, 4, 12}},
	} {
		p := build(t, "scenario: s\nruns:\n  a:\n    workload: transfer\n    sweep: {block_size: [4KiB, 8KiB]}\n    "+
			c.run+"\n")
		equal(t, c.name, p.Cost, Cost{Launches: c.want})
	}
}
