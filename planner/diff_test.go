package planner

import (
	"strings"
	"testing"
)

func TestDiffSaysWhatWouldRunAgainAndWhy(t *testing.T) {
	old := build(t, twoRuns)
	for _, c := range []struct {
		name, from, to string
		want           string
	}{
		{"nothing", "", "", "6 cases: as before\n"},
		{"option", "verify: full", "verify: none", `4 cases: would be measured again
  a[block_size=4KiB,fabric=shm]
    verify: full → none
`},
		{"env", "UCX_TLS: tcp", "UCX_TLS: rc", "    env UCX_TLS: tcp → rc\n"},
		{"assertion", ">= 1 GB/s", ">= 2 GB/s", `4 cases: would be judged again, from the same measurements
  a[block_size=4KiB,fabric=shm]
    no longer asserted: bandwidth >= 1 GB/s
    asserted now: bandwidth >= 2 GB/s
`},
		{"severity", "[bandwidth >= 1 GB/s,", "[{that: bandwidth >= 1 GB/s, severity: warn},",
			"assertions: severity or decision settings"},
		{"axis", "8KiB]\n      fabric", "8KiB, 16KiB]\n      fabric", `2 cases: would be measured for the first time
  a[block_size=16KiB,fabric=shm]
  a[block_size=16KiB,fabric=tcp]
6 cases: as before
`},
		{"axis shorter", "fabric: [shm, tcp]", "fabric: [shm]", `2 cases: are gone
  a[block_size=4KiB,fabric=tcp]
  a[block_size=8KiB,fabric=tcp]
`},
		{"looks", "    needs: [a]", "    needs: [a]\n    launches: 7", "looks after launches: 3 5 8 12 → 7"},
		{"timeout", "    needs: [a]", "    needs: [a]\n    timeout: 7s",
			"2 cases: differ in when they run\n  b[block_size=4KiB]\n    timeout: 5m → 7s\n"},
		{"needs", "    needs: [a]\n", "", "needs: 2 cases → 0"},
		{"trend", "increases", "decreases", `the plan as a whole: differs
  no longer asserted: latency.p50 increases with block_size
  asserted now: latency.p50 decreases with block_size
6 cases: as before
`},
		{"aggregate", "latency.p50 increases with block_size", "min(bandwidth) >= 1 GB/s", "  asserted now: min("},
		{"trend decided otherwise", "latency.p50 increases with block_size]",
			"{that: latency.p50 increases with block_size, severity: warn}]",
			"  other cases or decision settings: latency.p50 increases"},
		{"cluster", "scenario: s", "scenario: s\ncluster: {nodes: 2}", "  cluster: 1 node → 2 nodes\n"},
		{"check", "scenario: s", "scenario: s\nchecks: {c: {command: [\"true\"]}}", "  check now: c: true\n"},
		{"session setup", "scenario: s", "scenario: s\nsetup: [[prepare, it]]",
			"  setup now: prepare it on every node within 1m\n"},
		{"session teardown", "scenario: s", "scenario: s\nteardown: [{command: [tidy], env: {A: b}}]",
			"  teardown now: tidy on every node within 1m, A=b\n"},
		{"baseline", "scenario: s", "scenario: s\nbaseline: old.json", "  baseline: none → old.json\n"},
		{"order", "    sweep: {block_size: [4KiB, 8KiB]}", "    sweep: {block_size: [4KiB, 8KiB], order: random}",
			"  run b: order: given → random, seed 1\n"},
		{"interleave", "    sweep: {block_size: [4KiB, 8KiB]}",
			"    sweep: {block_size: [4KiB, 8KiB], order: interleave}", "  run b: order: given → interleave\n"},
		{"retry", "    needs: [a]", "    needs: [a]\n    retry: {times: 2, on: [crash], wait: 3s}",
			"  run b: retry: none → up to 2 times on crash, after 3s\n"},
		{"phases", "    needs: [a]", "    needs: [a]\n    timeout: {connect: 7s}",
			"  run b: timeout of connect: none → 7s\n"},
		{"teardown", "    needs: [a]", "    needs: [a]\n    teardown: [[tidy]]", "  run b: teardown now: tidy"},
		{"launch teardown", "    needs: [a]", "    needs: [a]\n    teardown: [{command: [tidy], scope: launch}]",
			"  run b: teardown of each launch now: tidy"},
		{"setup", "    needs: [a]", "    needs: [a]\n    setup: [[prepare]]", "  run b: setup now: prepare"},
		{"while", "    needs: [a]\n    sweep: {block_size: [4KiB, 8KiB]}",
			"    while: a\n    options: {block_size: 4KiB}", "  run b: while: none → a\n"},
		{"run", "  b:\n", "  c: {workload: transfer, options: {block_size: 4KiB}}\n  b:\n", "  run c: is new\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(twoRuns, c.from, c.to, 1)
			if text == twoRuns && c.from != "" {
				t.Fatalf("%q is not in the scenario", c.from)
			}
			var b strings.Builder
			changes, same := Diff(old, build(t, text))
			if err := WriteDiff(&b, changes, same); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), c.want) {
				t.Errorf("want %q in:\n%s", c.want, &b)
			}
		})
	}
}
