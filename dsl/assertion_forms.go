// Documentation of the forms of assertions.

package dsl

import (
	"strings"

	"github.com/weir-bench/weir/results/assertion"
)

// FormDoc describes a form of assertion with an example.
type FormDoc struct{ Form, Doc, Example string }

// AssertionForms lists the forms of assertions. The examples are about a run of workload transfer
// that sweeps block_size and fabric and has a table of references, beside a run "host" that sweeps
// block_size and op.
func AssertionForms() []FormDoc {
	var forms, values []string
	for _, a := range assertion.Aggregates() {
		forms, values = append(forms, string(a.Op)+"(x)"), append(values, string(a.Op)+" is "+a.Doc)
	}
	return []FormDoc{
		{"x >= y, x > y", "at least, above", "bandwidth >= 40 GB/s"},
		{"x <= y, x < y", "at most, below", "latency.p99 <= 60us"},
		{"x within P of y", "within the share P of y", "bandwidth within 10% of 46.48 GB/s"},
		{"x between a and b", "from a to b inclusive", "bandwidth between 40 and 50"},
		{"x increases with AXIS", "over the cases along an axis, one verdict for each combination of the other axes",
			"bandwidth increases with block_size"},
		{"x decreases with AXIS within P", "a step the other way is allowed if it is at most P",
			"message_rate decreases with block_size within 5%"},
		{"… where CONDITION", "only for cases that satisfy the condition",
			"latency.avg <= 60us where block_size == 4KiB && fabric == \"shm\""},
		{"+ - * / ( )", "sides are sums and products of metrics, options, axes and quantities; dimensions must fit",
			"block_size / latency.p50 >= 0.5 * ceiling.bandwidth"},
		{"ratio(a, b)", "a / b of two values of one dimension, a plain number", "ratio(latency.p99, latency.p50) <= 5"},
		{strings.Join(forms, " "), "over all cases of the run that satisfy where; one verdict for the run: " +
			strings.Join(values, "; "), "geomean(bandwidth) >= 0.5 * min(ceiling.bandwidth) where fabric == \"shm\""},
		{"min(x over AXIS, …)", "over these axes only; one verdict for each combination of the others",
			"mean(latency.p99 over fabric) <= 3 * median(latency.p50 over fabric)"},
		{"run(\"NAME\", CONDITION).METRIC", "the metric of the one case of another run that has the same values of shared axes and satisfies the condition (optional). That run is measured first",
			"bandwidth >= 0.9 * run(\"host\", op == \"write\").bandwidth"},
		{"at(CONDITION).METRIC", "the metric of the one case of the same run that satisfies the condition and has the same values of all axes that the condition does not name",
			"bandwidth >= 0.9 * at(fabric == \"shm\").bandwidth where fabric == \"tcp\""},
		{"gain(METRIC)", "by how much the metric x is better than b of the baseline variant: x / b - 1 if higher is better, 1 - x / b if lower is. It is judged for all variants but the baseline",
			"gain(latency.p50) >= 10% where variant == \"new\""},
		{"max(run(\"NAME\").METRIC)", "over the cases of another run with the same values of shared axes",
			"latency.p50 <= 2 * max(run(\"host\").latency.p50)"},
		{`transport == "NAME"`, "only this transport carried the data, in every launch; names are those of the fabric's library",
			`transport == "shm" where fabric == "shm"`},
		{`transport != "NAME"`, "this transport carried no data; also \"NAME\" not in transport",
			`transport != "tcp" where fabric == "shm"`},
		{`transport in ["NAME", …]`, "only these transports carried data; not in: none of them did",
			`transport in ["shm", "tcp"]`},
		{`transport startsWith "NAME"`, "the names of all transports that carried data begin with this text",
			`transport startsWith "rc" where fabric == "ucx"`},
		{`"NAME" in transport`, "this transport carried data; others may have too",
			`"tcp" in transport where fabric == "tcp"`},
		{`provider.NAME == "VALUE"`, "the fabric's library reports this value for its provider at every rank that moved data, in every launch; also !=, in […] and not in […]",
			`provider.hmem_p2p == "enabled" where fabric == "libfabric"`},
		{"all(RELATION, …)", "one verdict: every relation holds in every case of the run",
			"all(bandwidth >= 1 GB/s, latency.p99 <= 1ms) where block_size == 4KiB"},
		{"any(RELATION, …)", "one verdict: at least one relation holds in at least one case of the run",
			"any(bandwidth >= 40 GB/s, ceiling >= 0.9)"},
		{"reference.METRIC", "from the row of references for this run that matches the case's axes and options",
			"bandwidth within 5% of reference.bandwidth"},
		{"baseline.METRIC", "the metric of the same case in the result document of baseline or --baseline; the same metric of this session must stand beside it",
			"bandwidth >= 0.97 * baseline.bandwidth"},
	}
}
