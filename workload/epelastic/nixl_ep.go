package epelastic

import (
	"fmt"

	"github.com/weir-bench/weir/workload"
)

// nixlEP returns the lines of a phase in the form of NIXL EP's tests; its elastic.py prints none.
func nixlEP(option func(name string) string, metric func(name string) (float64, bool)) []string {
	number := func(name string) string { return workload.Foreign("%.0f", metric, name, 1) }
	us := func(name string) string { return workload.Foreign("%.1f", metric, name, 1e6) }
	return []string{
		fmt.Sprintf("Elastic (phase %s): %s ranks, %s joined, %s left, %s killed, %s muted", option("phase"),
			number("group.ranks"), number("joined"), number("left"), number("killed"), number("muted")),
		fmt.Sprintf("Latency (μs):     p50=%s, p99=%s", us("latency.p50"), us("latency.p99")),
		fmt.Sprintf("Wrong tokens: %s, wrong bits of the mask: %s", number("wrong_tokens"), number("mask.wrong")),
	}
}
