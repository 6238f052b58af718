package planner

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
)

// A latency of a second or more without a unit may be meant in ms.
func TestTimesWithoutAUnit(t *testing.T) {
	for asserted, want := range map[string]string{
		"latency.p99 < 5":              "5 has no unit, so latency.p99 is compared with 5s.",
		"latency.p99 within 10% of 20": "20 has no unit",
		"latency.p99 < 5s":             "",
		"latency.p99 < 0.005":          "",
		"latency.p99 < 5ms":            "",
		"bandwidth >= 5":               "",
		"latency.p99 <= 5*latency.p50": "",
	} {
		src := "scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 1MiB}\n" +
			"    assert: ['" + asserted + "']\n"
		_, diags := Build(read(t, "s.yaml", src, dsl.Options{}))
		if diags.HasErrors() || (len(diags) > 0) != (want != "") || !strings.Contains(render(diags), want) {
			t.Errorf("%s: %s, want %q", asserted, render(diags), want)
		}
	}
}
