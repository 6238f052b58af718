package planner

import (
	"fmt"
	"strings"
	"testing"
)

// Variables of a library that no run uses give a warning at their place, with the fabric that reads
// them.
func TestVariablesThatNothingReads(t *testing.T) {
	const run = "  %s:\n    workload: %s\n    options: {%s}\n    env: {%s}\n"
	moves := func(fabric string) string { return "block_size: 64KiB, fabric: " + fabric }
	for _, c := range []struct{ head, workload, options, env, says string }{
		{"", "transfer", moves("shm"), "UCX_TLS: rc", "UCX_TLS has no effect in run \"a\": only fabric ucx or nixl reads it, and not shm"},
		{"", "transfer", moves("auto"), "UCX_TLS: rc", "and not shm or tcp (fabric auto on one node)"},
		{"cluster: {nodes: 2}\n", "transfer", moves("auto"), "UCX_TLS: rc", ""},
		{"", "transfer", moves("ucx"), "UCX_TLS: rc", ""},
		{"", "transfer", moves("nixl"), "UCX_TLS: rc, FI_PROVIDER: efa, NIXL_LOG_LEVEL: info", ""},
		{"", "transfer", moves("ucx"), "FI_PROVIDER: efa", "only fabric libfabric or nixl reads it"},
		{"", "transfer", moves("libfabric"), "FI_PROVIDER: ucx, UCX_TLS: rc", ""},
		{"", "transfer", moves("ucx"), "NIXL_LOG_LEVEL: info", "only fabric nixl reads it"},
		{"", "transfer", moves("ucx"), "NCCL_DEBUG: info", "no fabric of weir reads it"},
		{"", "transfer", moves("sim"), "UCX_TLS: rc", "and not sim"},
		{"", "transfer", moves("shm"), "OMP_NUM_THREADS: 1", ""},
		{"", "command", "roles: {r: {command: [x]}}", "UCX_TLS: rc, NCCL_DEBUG: info", ""},
		{"", "ep", "fabric: tcp", "UCX_TLS: rc", "and not tcp"},
	} {
		text := "scenario: s\n" + c.head + "runs:\n" + fmt.Sprintf(run, "a", c.workload, c.options, c.env)
		_, diags := plan(t, "test.yaml", text)
		if text = render(diags); (c.says == "") != (text == "") || !strings.Contains(text, c.says) {
			t.Errorf("%s over %s, %s:\n%s", c.env, c.options, c.head, text)
		}
	}
	// Defaults apply to those runs that can use them.
	both := "scenario: s\ndefaults: {env: {UCX_TLS: rc, FI_PROVIDER: tcp}}\nruns:\n" +
		fmt.Sprintf(run, "a", "transfer", moves("shm"), "A: b") +
		fmt.Sprintf(run, "b", "transfer", moves("ucx"), "A: b")
	_, diags := plan(t, "test.yaml", both)
	mentions(t, diags, 2, "FI_PROVIDER has no effect in 2 runs")
	if len(diags) != 1 {
		t.Errorf("%s", render(diags))
	}
	swept := "scenario: s\nruns: {a: {workload: transfer, options: {" + moves("auto") +
		"}, sweep: {env.UCX_TLS: [rc, tcp]}}}\n"
	_, diags = plan(t, "test.yaml", swept)
	mentions(t, diags, 2, "with fabric auto its values make no difference")
}
