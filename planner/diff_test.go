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
    no longer asserted: bandwidth in [1, ∞) GB/s
    asserted now: bandwidth in [2, ∞) GB/s
`},
		{"severity", "[bandwidth >= 1 GB/s,", "[{that: bandwidth >= 1 GB/s, severity: warn},", "assertions: severity or how they are decided"},
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
		{"timeout", "    needs: [a]", "    needs: [a]\n    timeout: 7s", "2 cases: differ in when they run\n  b[block_size=4KiB]\n    timeout: 5m → 7s\n"},
		{"needs", "    needs: [a]\n", "", "needs: 2 cases → 0"},
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
