package planner

import (
	"strings"
	"testing"
)

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
	if len(p.Groups) != 2 || p.Groups[0].ID != "a[in_flight=1]" || p.Groups[1].ID != "a[in_flight=2]" {
		t.Fatalf("groups: %+v", p.Groups)
	}
	equal(t, "ranks", []int{p.Groups[0].Ranks, p.Groups[1].Ranks}, []int{2, 4})
}

// A resumed session finds its launches by the ids of their groups, which do not depend on the order
// of an axis's values.
func TestGroupIDsDoNotDependOnTheOrderOfValues(t *testing.T) {
	const text = `
scenario: s
runs:
  a:
    workload: transfer
    options: {ranks: "${axis.n > 1 ? 4 : 2}", block_size: 4KiB}
    env: {X: "${axis.tune}"}
    sweep: {n: [1, 2, 10], tune: [fast, slow]}
`
	ids := func(p *Plan) map[string]string {
		out := map[string]string{}
		for _, g := range p.Groups {
			for _, key := range g.Cases {
				out[key] = g.ID
			}
		}
		return out
	}
	p := build(t, text)
	q := build(t, strings.NewReplacer("1, 2, 10", "10, 2, 1", "fast, slow", "slow, fast").Replace(text))
	equal(t, "digest", q.Digest, p.Digest)
	equal(t, "ids", ids(q), ids(p))
	equal(t, "id of a group of several values", ids(p)["a[n=10,tune=slow]"], "a[n=2,tune=slow]")
	equal(t, "id of a group of one value", ids(p)["a[n=1,tune=slow]"], "a[n=1,tune=slow]")
}

func TestInterleavingWithinLaunchesIsNoMistake(t *testing.T) {
	_, diags := plan(t, "test.yaml", "scenario: s\nruns:\n  a:\n    workload: transfer\n    sweep: {block_size: [1KiB, 1MiB], order: {by: interleave, axis: block_size}}\n")
	if len(diags) > 0 {
		t.Error(render(diags))
	}
}

// Compared variants alternate, so they have separate launches, even if they are equal, as in a
// control, and if they differ only in what a running process can change.
func TestVariantsHaveLaunchesOfTheirOwn(t *testing.T) {
	const variants = "scenario: s\nvariants: {baseline: a, a: {x: 1}, b: {x: 2}, control: {x: 1}}\nruns:\n  r:\n" +
		"    sweep: {variant: [a, b, control]}\n"
	for name, run := range map[string]string{
		"command":  "    workload: command\n    options: {roles: {it: {command: [echo, '${variant.x}']}}}\n",
		"serving":  "    workload: serving\n    options: {url: 'http://h:1', model: m, requests: '${variant.x}'}\n",
		"transfer": "    workload: transfer\n    options: {block_size: 4KiB, in_flight: '${variant.x}'}\n",
	} {
		var ids []string
		for _, g := range build(t, variants+run).Groups {
			ids = append(ids, g.ID)
		}
		equal(t, name, ids, []string{"r[variant=a]", "r[variant=b]", "r[variant=control]"})
	}
}
