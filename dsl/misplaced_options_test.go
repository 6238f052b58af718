package dsl

import (
	"strings"
	"testing"
)

// An option that only other workloads have is told with these, not with options of similar names.
func TestAnOptionOfAnotherWorkloadIsToldWithIt(t *testing.T) {
	const src = "scenario: s\nruns:\n  a: {workload: transfer, options: {block_size: 4KiB, %s}}\n"
	for option, want := range map[string]string{
		"sleep_before_launch: 1s": "It is an option of traffic_sequence: see `weir docs traffic_sequence`.",
		"blok_size: 1KiB":         `Did you mean "block_size"?`,
	} {
		_, _, diags := Load("s.yaml", []byte(strings.Replace(src, "%s", option, 1)), Options{})
		if len(diags) != 1 || string(diags[0].Extra.(Hint)) != want {
			t.Errorf("%s: %v", option, diags)
		}
	}
}
