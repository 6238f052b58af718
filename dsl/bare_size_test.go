package dsl

import "testing"

// A small size without a unit is most likely one of KiB or MiB.
func TestSmallSizesWithoutAUnitAreWarnedOf(t *testing.T) {
	const text = "scenario: s\nruns: {a: {workload: transfer, "
	for run, warned := range map[string]int{
		"options: {block_size: 4}}}":                            1,
		"options: {block_size: '64'}}}":                         1,
		"sweep: {block_size: [4, 64, 4096]}}}":                  2,
		"options: {block_size: 1}}}":                            0,
		"options: {block_size: 4096}}}":                         0,
		"options: {block_size: 4B}}}":                           0,
		"options: {block_size: \"${4}\"}}}":                     0,
		"options: {block_size: 4KiB, batch: 4, in_flight: 4}}}": 0,
	} {
		s, _, diags := Load("s.yaml", []byte(text+run+"\n"), Options{})
		if s == nil || len(diags) != warned {
			t.Errorf("%s: %v", run, diags)
		}
	}
}
