package planner

import "testing"

func TestSharedAxesMatchPointByPointAndOthersFanIn(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  last:
    workload: transfer
    needs: [first]
    sweep: {block_size: [4KiB, 8KiB]}
  first:
    workload: transfer
    sweep:
      block_size: [4KiB, 8KiB]
      in_flight: [1, 2]
`)
	equal(t, "execution order", keys(p)[4:], []string{"last[block_size=4KiB]", "last[block_size=8KiB]"})
	equal(t, "needs", p.Case("last[block_size=8KiB]").Needs,
		[]string{"first[block_size=8KiB,in_flight=1]", "first[block_size=8KiB,in_flight=2]"})
	equal(t, "needs of groups", p.Groups[1].Needs, []string{"first"})
}

func TestNoCounterpart(t *testing.T) {
	d := refuse(t, `
scenario: s
runs:
  first:
    workload: transfer
    sweep: {block_size: [4KiB]}
  last:
    workload: transfer
    needs: [first]
    sweep: {block_size: [4KiB, 8KiB]}
`)
	mentions(t, d, 9, "last[block_size=8KiB]", "no counterpart")
}

func TestCycleIsShownAsAPath(t *testing.T) {
	d := refuse(t, `
scenario: s
runs:
  free: {workload: transfer, options: {block_size: 1MiB}, needs: [a]}
  a:    {workload: transfer, options: {block_size: 1MiB}, needs: [b]}
  b:    {workload: transfer, options: {block_size: 1MiB}, needs: [c]}
  c:    {workload: transfer, options: {block_size: 1MiB}, needs: [a]}
`)
	mentions(t, d, 5, "a → b → c → a: a needs b at test.yaml:5", "b needs c at test.yaml:6",
		"c needs a at test.yaml:7")
	if len(d) != 1 {
		t.Errorf("%d diagnostics for one cycle:\n%s", len(d), render(d))
	}
}

func TestRunsKeepFileOrderAsFarAsNeedsAllow(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  d: {workload: transfer, options: {block_size: 1MiB}, needs: [c]}
  b: {workload: transfer, options: {block_size: 1MiB}}
  a: {workload: transfer, options: {block_size: 1MiB}}
  c: {workload: transfer, options: {block_size: 1MiB}, needs: [a]}
`)
	equal(t, "order", keys(p), []string{"b", "a", "c", "d"})
}
