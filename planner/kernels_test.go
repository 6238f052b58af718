package planner

import "testing"

// Limits of kernels are reported at the value, also if memory vram follows from the fabric.
func TestWhatKernelsCannotDoIsSaidAtTheValue(t *testing.T) {
	for _, c := range []struct {
		workload, others, option, says string
	}{
		{"ep", "ranks: 2", "hidden: 65536", "hidden 65536: kernels of vram have at most 32768 channels"},
		{"ep", "tokens: 6", "ranks: 17", "ranks 17: kernels of vram have at most 16 ranks"},
		{"ep", "ranks: 2", "experts_per_rank: 513", "at most 1024 experts of all ranks, not 1026"},
		{"ep", "ranks: 2\n      experts_per_rank: 64", "top_k: 33", "top_k 33: kernels of vram have at most 32"},
		{"ep", "ranks: 2", "tokens: 40000", "at most 65535 selections of a rank, not 80000"},
		{"ep_elastic", "tokens: 6", "phases: [{ranks: 0..16}]", "with 17 ranks: kernels of vram have at most 16 ranks"},
		{"ep_elastic", "phases: [{ranks: 0..1}]", "hidden: 65536", "hidden 65536: kernels of vram"},
	} {
		for _, memory := range []string{"", "\n      memory: vram"} {
			text := "scenario: a\nruns:\n  a:\n    workload: " + c.workload + "\n    options:\n      " + c.option +
				"\n      fabric: cuda" + memory + "\n      " + c.others + "\n"
			mentions(t, refuse(t, text), 6, c.says)
		}
	}
}
