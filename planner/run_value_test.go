package planner

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
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

// Cases with settings from different cases of another run have separate launches, with one value
// each, and fail independently.
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
			equal(t, "iterations", c.Options["iterations"], any(option.Deferred("${"+name+"}")))
			equal(t, "names", c.Deferred(), []string{name})
		case "variable":
			equal(t, "variables", c.Env, map[string]string{"V": `n ${run("a", batch == 2).bandwidth}`, "W": "plain"})
			equal(t, "of these later", c.EnvLater, []string{"V"})
		}
	}
}

// A variable with the value of a run differs from one with the same constant text.
func TestLiteralIsNoValueOfARun(t *testing.T) {
	const text = `
scenario: literal
runs:
  a: {workload: transfer, options: {fabric: sim, block_size: 4KiB}}
  b: {workload: transfer, needs: [a], options: {fabric: sim, block_size: 4KiB}, env: {V: '${run("a").bandwidth}'}}
`
	value, literal := build(t, text), build(t, strings.Replace(text, "'${", "'$${", 1))
	equal(t, "texts", literal.Cases[1].Env, value.Cases[1].Env)
	if literal.Cases[1].ID == value.Cases[1].ID || literal.Digest == value.Digest {
		t.Error("both have one digest")
	}
}
