package traffic

import (
	"encoding/json"
	"strconv"

	"github.com/weir-bench/weir/workload"
)

// Blocks returns the output of ct-perftest.
func (behaviour) Blocks() map[string]workload.ForeignBlock {
	return map[string]workload.ForeignBlock{"ct-perftest": ctPerftest}
}

// ctPerftest formats a case with the names of ct-perftest's table and their order, in s and GB, and the mean
// bandwidth of a sender. Its iterations begin together, so the total time is the sum of their latencies.
func ctPerftest(option func(string) string, metric func(string) (float64, bool)) []string {
	one := map[string]any{}
	iterations, err := strconv.ParseFloat(option("iterations"), 64)
	if v, ok := metric("latency.avg"); ok && err == nil {
		one["iters"], one["total_time"], one["avg_latency"] = iterations, v*iterations, v
	}
	if v, ok := metric("bytes"); ok {
		one["total_size"] = v * 1e-9
	}
	if v, ok := metric("bandwidth.per_sender"); ok {
		one["mean_bw"] = v
	}
	text, err := json.Marshal(one)
	if err != nil { // NaN or infinity, which metrics are not
		return []string{"{}"}
	}
	return []string{string(text), "iters total_time avg_latency total_size mean_bw"}
}
