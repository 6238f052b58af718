package planner

import "testing"

func TestCasesShareALaunchUnlessTheirProcessesDiffer(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  a:
    workload: transfer
    launches: [3, 5]
    sweep:
      block_size: [4KiB, 8KiB]
      fabric: [shm, tcp]
      env.UCX_TLS: [tcp, "rc,ud"]
`)
	var ids []string
	for _, g := range p.Groups {
		ids = append(ids, g.ID)
		if len(g.Cases) != 2 || g.Ranks != 2 {
			t.Errorf("group %s has %d cases and %d ranks", g.ID, len(g.Cases), g.Ranks)
		}
		equal(t, "looks", g.Looks, []int{3, 5})
	}
	equal(t, "groups", ids, []string{
		"a[env.UCX_TLS=tcp,fabric=shm]", `a[env.UCX_TLS="rc,ud",fabric=shm]`,
		"a[env.UCX_TLS=tcp,fabric=tcp]", `a[env.UCX_TLS="rc,ud",fabric=tcp]`,
	})
	equal(t, "cases are in execution order", keys(p)[:2], p.Groups[0].Cases)
}

func TestProcessOptionsThatNoAxisNamesStillSeparate(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  a:
    workload: transfer
    options: {ranks: "${axis.in_flight > 1 ? 4 : 2}", block_size: 4KiB}
    sweep: {in_flight: [1, 2, 3]}
`)
	if len(p.Groups) != 2 || p.Groups[0].ID != "a" || p.Groups[1].ID != "a#2" {
		t.Fatalf("groups: %+v", p.Groups)
	}
	equal(t, "ranks", []int{p.Groups[0].Ranks, p.Groups[1].Ranks}, []int{2, 4})
}
