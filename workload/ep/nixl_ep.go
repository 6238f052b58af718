package ep

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/ep/routing"
)

// nixlEP returns the output of NIXL EP's test_data_plane.py for a case.
func nixlEP(option func(name string) string, metric func(name string) (float64, bool)) []string {
	line := strings.Repeat("=", 70)
	experts := option("experts_per_rank")
	ranks, _ := strconv.Atoi(option("ranks"))
	if perRank, err := strconv.Atoi(experts); err == nil {
		experts = fmt.Sprintf("%d/rank (%d total)", perRank, perRank*ranks)
	}
	lines := []string{
		line, "NIXL EP Data Plane Performance Test", line,
		"Mode: " + option("mode"),
		fmt.Sprintf("Ranks: %d, Tokens: %s, Hidden: %s", ranks, tokensOf(option), option("hidden")),
		fmt.Sprintf("Experts: %s, TopK: %s", experts, option("top_k")),
		"Backend: " + option("fabric"),
		fmt.Sprintf("Warmup: %s, Measure: %s iterations", option("warmup"), option("iterations")),
		line, "", line,
		fmt.Sprintf("Data Plane (%s): %s/%d ranks passed", option("mode"),
			workload.Foreign("%.0f", metric, "ranks_passed", 1), ranks),
		line,
	}
	value := func(format, name string, scale float64) string { return workload.Foreign(format, metric, name, scale) }
	return append(lines,
		fmt.Sprintf("Bandwidth (GB/s): avg=%s, min=%s, max=%s", value("%.2f", "bandwidth", 1),
			value("%.2f", "bandwidth.min_rank", 1), value("%.2f", "bandwidth.max_rank", 1)),
		fmt.Sprintf("Latency (μs):     avg=%s, min=%s, max=%s", value("%.1f", "latency.avg", 1e6),
			value("%.1f", "latency.min", 1e6), value("%.1f", "latency.max", 1e6)))
}

// tokensOf returns the number of tokens of a rank, which may be in a file of routes.
func tokensOf(option func(name string) string) string {
	experts, topK, err := parseRoutes(option("route_table"))
	if option("tokens") != routing.FromFile || err != nil || topK < 1 || len(experts) == 0 {
		return option("tokens")
	}
	least, most := len(experts[0])/topK, len(experts[0])/topK
	for _, of := range experts {
		least, most = min(least, len(of)/topK), max(most, len(of)/topK)
	}
	if least < most {
		return fmt.Sprintf("%d to %d", least, most)
	}
	return strconv.Itoa(most)
}
