package epcontrol

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/workload"
)

// nixlEP returns the output of NIXL EP's test_control_plane.py for a case, in ms. The test prints one rank; this is
// over all ranks.
func nixlEP(option func(name string) string, metric func(name string) (float64, bool)) []string {
	line, rule := strings.Repeat("=", 70), strings.Repeat("-", 70)
	ranks, _ := strconv.Atoi(option("ranks"))
	perRank, _ := strconv.Atoi(option("experts_per_rank"))
	ms := func(name string) string { return workload.Foreign("%.2f", metric, name, 1e3) }
	unit := func(name string) string {
		if v := ms(name); v != "-" {
			return v + "ms"
		}
		return "-"
	}
	row := func(name string) string {
		return fmt.Sprintf("%-15s %-12s %-12s %s", name, ms(name+".avg"), ms(name+".min"), ms(name+".max"))
	}
	if o := option("operation"); o != Cycle {
		return []string{fmt.Sprintf("%s: %s avg across %d ranks (min=%s, max=%s) [%d experts/rank]",
			strings.ToUpper(o), unit(o+".avg"), ranks, unit(o+".min"), unit(o+".max"), perRank)}
	}
	lines := []string{
		line, fmt.Sprintf("Control Plane: %d experts/rank x %d ranks = %d total", perRank, ranks, perRank*ranks), line,
		fmt.Sprintf("%-15s %-12s %-12s %s", "Operation", "Avg (ms)", "Min (ms)", "Max (ms)"), rule,
	}
	for _, name := range Operations() {
		lines = append(lines, row(name))
	}
	return append(lines, rule, fmt.Sprintf("%-15s %s", "TOTAL", ms("total")), line)
}
