package executor

import (
	"fmt"
	"os"
	"testing"

	"weir/planner"
	"weir/results"
)

// BenchmarkCoordination is a whole session of one launch of 15 cases that take
// no time: what is left is etcd, the survey, processes, barriers and tear-down.
// It may not take half a second.
func BenchmarkCoordination(b *testing.B) {
	bench := newBench(b)
	var cases []*planner.Case
	for i := range 15 {
		cases = append(cases, aCase(fmt.Sprintf("c[x=%d]", i), option("iterations", int64(1))))
	}
	for b.Loop() {
		doc := bench.run(onePlan(cases...))
		if doc.Session.Status != results.Passed {
			b.Fatal(doc.Session)
		}
		if err := os.RemoveAll(bench.dir); err != nil {
			b.Fatal(err)
		}
	}
}
