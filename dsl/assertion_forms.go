package dsl

import (
	"strings"

	"weir/assertion"
)

// FormDoc is a form of assertions with an example of it.
type FormDoc struct{ Form, Doc, Example string }

// AssertionForms are the forms of assertions. The examples are about a run of
// workload transfer that sweeps block_size and fabric and has a table of reference
// values, beside a run "host" that sweeps block_size and op.
func AssertionForms() []FormDoc {
	var forms, values []string
	for _, a := range assertion.Aggregates() {
		forms, values = append(forms, string(a.Op)+"(x)"), append(values, string(a.Op)+" is "+a.Doc)
	}
	return []FormDoc{
		{"x >= y, x > y", "at least, above", "bandwidth >= 40 GB/s"},
		{"x <= y, x < y", "at most, below", "latency.p99 <= 60us"},
		{"x within P of y", "not further from y than the share P of it", "bandwidth within 10% of 46.48 GB/s"},
		{"x between a and b", "from a to b, both included", "bandwidth between 40 and 50"},
		{"x increases with AXIS", "over the cases along an axis, one for each combination of the others",
			"bandwidth increases with block_size"},
		{"x decreases with AXIS within P", "a step the other way by no more than P is allowed",
			"message_rate decreases with block_size within 5%"},
		{"… where CONDITION", "only for the cases for which the condition holds",
			"latency.avg <= 60us where block_size == 4KiB && fabric == \"shm\""},
		{"+ - * / ( )", "sides are sums and products of metrics, options, axes and quantities; dimensions must fit",
			"block_size / latency.p50 >= 0.5 * ceiling.bandwidth"},
		{"ratio(a, b)", "a / b of two values of one kind, a plain number", "ratio(latency.p99, latency.p50) <= 5"},
		{strings.Join(forms, " "), "over all cases of the run that where admits, one assertion for the run: " +
			strings.Join(values, "; "), "geomean(bandwidth) >= 0.5 * min(ceiling.bandwidth) where fabric == \"shm\""},
		{"min(x over AXIS, …)", "along these axes only, one for each combination of the others",
			"mean(latency.p99 over fabric) <= 3 * median(latency.p50 over fabric)"},
		{"run(\"NAME\", CONDITION).METRIC", "of the one case of another run that has the same values of shared axes and fits the condition, which may be left out; that run comes first",
			"bandwidth >= 0.9 * run(\"host\", op == \"write\").bandwidth"},
		{"at(CONDITION).METRIC", "of the one case of the same run that fits the condition and has the same values of all axes that it does not name",
			"bandwidth >= 0.9 * at(fabric == \"shm\").bandwidth where fabric == \"tcp\""},
		{"gain(METRIC)", "by how much the metric is better than that of the variant that variants names as baseline: x / b - 1 where higher is better, 1 - x / b where lower is; about all variants but the baseline",
			"gain(latency.p50) >= 10% where variant == \"new\""},
		{"max(run(\"NAME\").METRIC)", "over the cases of another run that have the same values of shared axes",
			"latency.p50 <= 2 * max(run(\"host\").latency.p50)"},
		{`transport == "NAME"`, "nothing but transports of this name carried the data, in every launch, as the fabric's library names them",
			`transport == "shm" where fabric == "shm"`},
		{`transport != "NAME"`, "no transport of this name carried data; also \"NAME\" not in transport",
			`transport != "tcp" where fabric == "shm"`},
		{`transport in ["NAME", …]`, "nothing but transports of these names; not in: none of them",
			`transport in ["shm", "tcp"]`},
		{`transport startsWith "NAME"`, "the names of all transports that carried data begin so",
			`transport startsWith "rc" where fabric == "tcp"`},
		{`"NAME" in transport`, "a transport of this name carried data, others may have too",
			`"tcp" in transport where fabric == "tcp"`},
		{`provider.NAME == "VALUE"`, "the fabric's library read this back of its provider at every rank that moved data, in every launch; also !=, in […] and not in […]",
			`provider.hmem_p2p == "enabled" where fabric == "tcp"`},
		{"all(RELATION, …)", "one verdict: every relation holds in every case of the run",
			"all(bandwidth >= 1 GB/s, latency.p99 <= 1ms) where block_size == 4KiB"},
		{"any(RELATION, …)", "one verdict: at least one relation holds in at least one case of the run",
			"any(bandwidth >= 40 GB/s, ceiling >= 0.9)"},
		{"reference.METRIC", "from the row of references for this run whose axes and options are the case's",
			"bandwidth within 5% of reference.bandwidth"},
		{"baseline.METRIC", "of the same case in the result document of baseline or --baseline",
			"bandwidth >= 0.97 * baseline.bandwidth"},
	}
}

// TransportNames says what the names in assertions about transports are.
const TransportNames = `  The transports of a launch are those that carried blocks between its ranks, read
  back from the library by every rank that moves them; what only wires up or signals
  is none of them. A name is the library's own, exactly, and fits with the device
  (rc_mlx5/mlx5_0:1) and without; a name in layers (tcp;ofi_rxm) fits as a whole and
  by each layer. The statement must hold in every launch.

    shm, tcp    shm and tcp: weir's own
    ucx         posix, sysv, cma, tcp, rc_mlx5, …: of UCX's first protocols (before 1.16)
                the lane that a put takes, or the lane of active messages where puts are
                emulated; its later protocols choose among lanes by size and do not say
                which, so all lanes that may have been chosen are possible
    libfabric   the provider: tcp;ofi_rxm, shm, verbs;ofi_rxm, efa, …
    nixl        the backend plugin; what it uses beneath is not told
    sim         sim

  Where that is not known, or does not decide the statement, the verdict is an error.
`

// ProviderFacts says what the names in assertions about providers are.
const ProviderFacts = `  What a fabric's library says of its provider once it is connected, as texts. It is
  read back, not taken from the environment.

    libfabric   hmem_p2p          with memory of GPUs, where the provider tells it: enabled,
                                  required, preferred, disabled (FI_OPT_FI_HMEM_P2P)
                tx_size, rx_size  entries of the endpoint's queues of sends and receives

  Where a rank that moved data did not read it back the verdict is an error.
`
