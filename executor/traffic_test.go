package executor

import (
	"testing"

	"weir/planner"
	"weir/workload"
)

// A case is read by its own workload, whether the plan was just made or comes from a
// file, where counts are what JSON makes of them.
func TestTrafficIsReadAsTraffic(t *testing.T) {
	for _, ranks := range []any{int64(3), 3.} {
		o, err := transfer(&planner.Case{Workload: "traffic", Options: workload.Values{"generate": "incast 4KiB", "ranks": ranks, "iterations": 7., "fabric": "shm"}})
		if err != nil || o.Matrix == nil || o.Matrix.Compact() != "3: 1>0=4096 2>0=4096" || o.Ranks != 3 || o.Iterations != 7 || o.Pattern != workload.MatrixPattern {
			t.Errorf("%+v, %v", o, err)
		}
	}
	o, err := transfer(&planner.Case{Workload: "transfer", Options: workload.Values{"block_size": "4KiB"}})
	if err != nil || o.Matrix != nil || o.BlockSize != 4096 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, c := range []*planner.Case{{Workload: "traffic", Options: workload.Values{"matrix": "2: 0>0=5"}}, {Workload: "traffic"}, {Workload: "traffik"}} {
		if o, err := transfer(c); err == nil {
			t.Errorf("%v was read as %+v", c, o)
		}
	}
}

func TestCasesOfOneMatrixAreTold(t *testing.T) {
	of := func(v workload.Values) *planner.Case { return &planner.Case{Options: v} }
	a := of(workload.Values{"matrix": "2: 0>1=5", "shards": int64(1)})
	if !sameMatrix(a, of(workload.Values{"matrix": "2: 0>1=5", "shards": int64(4)})) || sameMatrix(a, of(workload.Values{"matrix": "2: 0>1=6"})) {
		t.Error("matrices that are written")
	}
	g := of(workload.Values{"generate": "ring 1B", "ranks": int64(2)})
	if sameMatrix(g, of(workload.Values{"generate": "ring 1B", "ranks": int64(3)})) || sameMatrix(g, a) || !sameMatrix(g, g) {
		t.Error("matrices that are generated")
	}
}
