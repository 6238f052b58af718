package planner

import (
	"slices"
	"testing"

	"github.com/weir-bench/weir/results/assertion"
)

// The values of an axis of the author's own may be quantities in conditions, in the order of a
// trend, and beside axes of other runs; programs get the author's spelling.
func TestAxesOfTheAuthorsOwnHaveQuantities(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  ours: {workload: transfer, sweep: {block_size: [4KiB, 1MiB]}}
  tool:
    workload: command
    options:
      roles: {it: {command: [bench, "${axis.block_size}", "${bytes(axis.block_size)}", "${axis.pause}"]}}
      parse: {of: it, lines: '(?<bw>\d+)'}
    metrics: {bw: {unit: GB/s, better: higher}}
    sweep: {block_size: [1024KiB, 4KiB], pause: [1m, 1500ms, 0s], exclude: [{when: pause == 0s && block_size == 1MiB}]}
    assert:
      - run("ours").bandwidth >= 0.9 * bw
      - bw >= 1 where block_size > 64KiB && pause in ["60s"]
      - bw increases with block_size where pause == "1m"
  bytes:
    workload: command
    options:
      roles: {it: {command: [bench, "${axis.block_size}", "${axis.words}"]}}
      parse: {of: it, lines: '(?<bw>\d+)'}
    metrics: {bw: {unit: GB/s, better: higher}}
    sweep: {block_size: [4096, 1048576], words: [7B, auto]}
    assert: [run("ours").bandwidth >= 0.9 * bw where words == "7B"]
`)
	told := p.Case("tool[block_size=1024KiB,pause=1m]").Options["roles"].(string)
	equal(t, "roles", told, `{"it":{"command":["bench","1024KiB","1048576","1m"]}}`)
	equal(t, "excluded", p.Case("tool[block_size=1024KiB,pause=0s]").Status, Excluded)
	var judged []string
	for _, key := range []string{
		"tool[block_size=1024KiB,pause=1m]", "tool[block_size=4KiB,pause=0s]", "bytes[block_size=4096,words=7B]",
		"bytes[block_size=1048576,words=auto]",
	} {
		for _, a := range p.Case(key).Assertions {
			judged = append(judged, a.Lowered)
		}
	}
	equal(t, "assertions of cases", judged, []string{
		"bandwidth@ours[block_size=1MiB] / bw in [0.9, ∞)", "bw in [1, ∞) GB/s",
		"bandwidth@ours[block_size=4KiB] / bw in [0.9, ∞)", "bandwidth@ours[block_size=4KiB] / bw in [0.9, ∞)",
	})
	i := slices.IndexFunc(p.Assertions, func(a assertion.Assertion) bool { return a.Trend != nil })
	equal(t, "trend", p.Assertions[i].Cases,
		[]string{"tool[block_size=4KiB,pause=1m]", "tool[block_size=1024KiB,pause=1m]"})
}
