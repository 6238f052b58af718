package planner

import "testing"

// Errors that depend on the values of a case are found by the planner, and reported at the place in
// the file.
func TestValuesThatAreWrongAtAPoint(t *testing.T) {
	const head = "scenario: s\nruns:\n  a:\n    workload: transfer\n"
	for _, c := range []struct {
		name, run string
		line      int
		words     []string
	}{
		{"option out of bounds", "    options: {in_flight: \"${axis.block_size / 1024}\"}\n    sweep: {block_size: 1KiB..64MiB x4}\n",
			5, []string{"16384 is above", "At block_size=16MiB"}},
		{"option no whole number", "    options: {batch: \"${axis.n / 2}\", block_size: 1}\n    sweep: {n: [2, 3]}\n",
			5, []string{"1.5", "At n=3"}},
		{"function fails", "    options: {block_size: \"${size(axis.s)}\"}\n    sweep: {s: [1KiB, oops]}\n", 5,
			[]string{"At s=oops"}},
		{"below zero", "    options: {block_size: 1}\n    assert: [latency.p50 < 0us]\n", 6,
			[]string{"Metrics are never negative: nothing is below 0"}},
		{"band is empty", "    options: {block_size: 1}\n    assert: [bandwidth between 5 and 1]\n", 6,
			[]string{"The band from 5 to 1 is empty"}},
		{"share of nothing", "    options: {block_size: 1}\n    assert: [bandwidth within 10% of 0]\n", 6,
			[]string{"share of 0"}},
		{"division by zero at a point", "    sweep: {block_size: [2, 3]}\n    assert: [bandwidth >= 1 GB/s / (block_size / 1B - 2)]\n",
			6, []string{"ivision by zero"}},
		{"ends measured differently", "    options: {block_size: 1}\n    assert: [bandwidth between 0.5 * ceiling.bandwidth and bandwidth.min_rank]\n",
			6, []string{"different metrics"}},
		{"where matches nothing", "    sweep: {block_size: [1, 2]}\n    assert: [bandwidth >= 1 where block_size == 3]\n",
			6, []string{"None of the 2 cases"}},
		{"batch in a pingpong", "    options: {block_size: 1, mode: pingpong}\n    sweep: {batch: [1, 2]}\n", 5,
			[]string{"a batch of 2"}},
		{"options together", "    options: {block_size: 1, mode: pingpong}\n    sweep: {op: [write, read]}\n", 5,
			[]string{"pingpong"}},
	} {
		t.Run(c.name, func(t *testing.T) { mentions(t, refuse(t, head+c.run), c.line, c.words...) })
	}
}

func TestOneMistakeAtManyPointsIsReportedOnce(t *testing.T) {
	diags := refuse(t, "scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {in_flight: \"${axis.block_size}\"}\n    sweep: {block_size: 4097..9000 +1}\n")
	if len(diags) != 1 {
		t.Errorf("%d diagnostics:\n%s", len(diags), render(diags[:2]))
	}
}
