package transfer

import (
	"strconv"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// nixlbench returns the columns of nixlbench's table. With several initiators the table has their sum as well as the
// bandwidth of one.
func nixlbench(option func(name string) string) (columns []workload.ForeignColumn, above string) {
	rate, percent := results.Scale{Unit: "GB/s", Factor: 1}, results.Scale{Unit: "%", Factor: 100}
	columns = []workload.ForeignColumn{
		{Head: "Block Size (B)", Width: 20, Option: "block_size"},
		{Head: "Batch Size", Width: 15, Option: "batch"},
	}
	if ranks, err := strconv.Atoi(option("ranks")); err == nil && ranks > 2 {
		above = option("ranks") + " ranks"
		columns = append(columns,
			workload.ForeignColumn{Head: "B/W (GB/Sec)", Width: 15, Metric: "bandwidth.min_rank", Scale: rate},
			workload.ForeignColumn{Head: "Aggregate B/W (GB/Sec)", Width: 25, Metric: "bandwidth", Scale: rate},
			workload.ForeignColumn{Head: "Network Util (%)", Width: 20, Metric: "ceiling", Scale: percent})
	} else {
		columns = append(columns, workload.ForeignColumn{
			Head: "B/W (GB/Sec)", Width: 15, Metric: "bandwidth", Scale: rate,
		})
	}
	for _, c := range []struct{ head, metric string }{
		{"Avg Lat. (us)", "latency.avg"}, {"Avg Prep (us)", "prep.request"}, {"P99 Prep (us)", "prep.request.p99"},
		{"Avg Post (us)", "post.avg"}, {"P99 Post (us)", "post.p99"}, {"Avg Tx (us)", "transfer.avg"},
		{"P99 Tx (us)", "transfer.p99"},
	} {
		columns = append(columns, workload.ForeignColumn{
			Head: c.head, Width: 15, Metric: c.metric, Scale: results.Micro,
		})
	}
	return columns, above
}
