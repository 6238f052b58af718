package ep

import (
	"fmt"
	"strconv"
	"strings"
)

// nixlEP is what NIXL EP's test_data_plane.py prints of a case.
func nixlEP(option func(name string) string, metric func(name string) (float64, bool)) []string {
	line := strings.Repeat("=", 70)
	experts := option("experts_per_rank")
	ranks, _ := strconv.Atoi(option("ranks"))
	if perRank, err := strconv.Atoi(experts); err == nil {
		experts = fmt.Sprintf("%d/rank (%d total)", perRank, perRank*ranks)
	}
	passed, _ := metric("ranks_passed")
	lines := []string{
		line, "NIXL EP Data Plane Performance Test", line,
		"Mode: " + option("mode"),
		fmt.Sprintf("Ranks: %d, Tokens: %s, Hidden: %s", ranks, option("tokens"), option("hidden")),
		fmt.Sprintf("Experts: %s, TopK: %s", experts, option("top_k")),
		"Backend: " + option("fabric"),
		fmt.Sprintf("Warmup: %s, Measure: %s iterations", option("warmup"), option("iterations")),
		line, "", line,
		fmt.Sprintf("Data Plane (%s): %.0f/%d ranks passed", option("mode"), passed, ranks),
		line,
	}
	values := func(names ...string) (list []any) {
		for _, name := range names {
			v, ok := metric(name)
			if !ok {
				return nil
			}
			if strings.HasPrefix(name, "latency.") {
				v *= 1e6
			}
			list = append(list, v)
		}
		return list
	}
	bandwidth := values("bandwidth", "bandwidth.min_rank", "bandwidth.max_rank")
	latency := values("latency.avg", "latency.min", "latency.max")
	if bandwidth == nil || latency == nil {
		return lines
	}
	return append(lines,
		fmt.Sprintf("Bandwidth (GB/s): avg=%.2f, min=%.2f, max=%.2f", bandwidth...),
		fmt.Sprintf("Latency (μs):     avg=%.1f, min=%.1f, max=%.1f", latency...))
}
