package sequence

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/workload"
)

// Blocks returns the output of sequential-ct-perftest.
func (behaviour) Blocks() map[string]workload.ForeignBlock {
	return map[string]workload.ForeignBlock{"ct-perftest": ctPerftest}
}

// ctPerftestNumbers maps members of sequential-ct-perftest's report to metrics, and the factor of weir's value.
var ctPerftestNumbers = []struct {
	name, metric string
	factor       float64
}{
	{"size", "bytes", 1e-9}, {"latency", "latency", 1e3}, {"isolated_latency", "isolated_latency", 1e3},
	{"num_senders", "senders", 1}, {"mean_bw", "bandwidth.per_sender", 1},
}

// ctPerftest formats a pattern with the names of sequential-ct-perftest's report, and their order: GB and ms. A
// sender is a row with a cell that is not 0, also one on the diagonal.
func ctPerftest(option func(string) string, metric func(string) (float64, bool)) []string {
	one := map[string]any{}
	for _, n := range ctPerftestNumbers {
		if v, ok := metric(n.metric); ok {
			one[n.name] = json.Number(strconv.FormatFloat(v*n.factor, 'g', 12, 64))
		}
	}
	if m, err := matrix.ParseCompact(option("matrix")); err == nil && one["num_senders"] != nil {
		one["num_senders"] = len(m.Senders())
		one["size"] = json.Number(strconv.FormatFloat(float64(m.Total())*1e-9, 'g', 12, 64))
	}
	text, err := json.Marshal(one)
	if err != nil { // NaN or infinity, which metrics are not
		return []string{"{}"}
	}
	var order []string
	for _, n := range ctPerftestNumbers {
		order = append(order, n.name)
	}
	return []string{string(text), strings.Join(order, " ")}
}
