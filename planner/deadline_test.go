package planner

import (
	"testing"
	"time"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/deadline"
)

// Planning stops at the scenario's deadline with one error, which has the place.
func TestPlanningEndsAtTheDeadline(t *testing.T) {
	const src = `scenario: s
runs:
  a:
    workload: transfer
    options: {block_size: 4KiB, iterations: "${axis.batch * 2}"}
    sweep: {batch: 1..100 +1}
    assert: [bandwidth > 1 GB/s where batch > 3, max(bandwidth) > 2 GB/s]
`
	s := read(t, "s.yaml", src, dsl.Options{})
	for limit, late := range map[time.Duration]bool{-1: true, time.Hour: false} {
		s.Deadline = deadline.After(limit)
		p, diags := Build(s)
		if (p == nil) != late || diags.HasErrors() != late {
			t.Fatalf("within %v: %v", limit, diags)
		}
		if late && (len(diags) != 1 || diags[0].Summary != "Planning takes too long" ||
			diags[0].Subject.Start.Line < 3) {
			t.Errorf("%v", diags)
		}
	}
}
