package planner

import (
	"path/filepath"
	"testing"

	"weir/workload"
)

const valued = `
scenario: valued
runs:
  a: {workload: transfer, options: {fabric: sim}, sweep: {block_size: [4KiB, 64KiB], batch: [1, 2]}}
  option:
    workload: transfer
    options: {fabric: sim, iterations: '${floor(run("a", batch == 1).bandwidth)}'}
    sweep: {block_size: [4KiB, 64KiB]}
  variable:
    workload: transfer
    options: {fabric: sim}
    env: {V: 'n ${run("a", batch == 2).bandwidth}', W: plain}
    sweep: {block_size: [4KiB, 64KiB], in_flight: [1, 2]}
`

// Cases whose settings follow from different cases of another run are launches of their own, which
// have one value each and fail each for itself.
func TestValuesOfRunsDivideLaunches(t *testing.T) {
	p := build(t, valued)
	groups := map[string][]int{}
	for _, g := range p.Groups {
		groups[g.Run] = append(groups[g.Run], len(g.Cases))
	}
	equal(t, "cases by launch", groups, map[string][]int{"a": {4}, "option": {1, 1}, "variable": {2, 2}})
	for _, c := range p.Cases {
		switch c.Run {
		case "option":
			name := `floor(run("a", batch == 1).bandwidth)`
			equal(t, "iterations", c.Options["iterations"], any(workload.Deferred("${"+name+"}")))
			equal(t, "names", c.Deferred(), []string{name})
		case "variable":
			equal(t, "variables", c.Env, map[string]string{"V": `n ${run("a", batch == 2).bandwidth}`, "W": "plain"})
			equal(t, "of these later", c.EnvLater, []string{"V"})
		}
	}
}

func TestSavedPlanKeepsValuesOfRuns(t *testing.T) {
	p := build(t, valued)
	path := filepath.Join(t.TempDir(), "plan.json")
	save(t, p, path)
	q, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "plan", q, p)
	if err := q.Verify(); err != nil {
		t.Error(err)
	}
}
