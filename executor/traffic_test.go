package executor

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"weir/executor/cluster"
	"weir/planner"
	"weir/results"
	"weir/workload"
	"weir/workload/move"
)

// A case is read by its own workload, whether the plan was just made or comes from a
// file, where counts are what JSON makes of them.
func TestTrafficIsReadAsTraffic(t *testing.T) {
	for _, ranks := range []any{int64(3), 3.} {
		o, err := transfer(&planner.Case{Workload: "traffic", Options: workload.Values{"generate": "incast 4KiB", "ranks": ranks, "iterations": 7., "fabric": "shm"}})
		if err != nil || o.Matrix == nil || o.Matrix.Compact() != "3: 1>0=4096 2>0=4096" || o.Ranks != 3 || o.Iterations != 7 || o.Pattern != move.MatrixPattern {
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

// What no node can be told ends its cases and nothing else, and says whose fault it is.
func TestALaunchThatIsTooLongToTravelIsGivenUp(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("x", 33<<20)
	big := []*planner.Case{aCase("big[x=1]", option("provider", long)), aCase("big[x=2]", option("provider", long+"x"))}
	small := aCase("small")
	doc := b.run(aPlan(append(big, small), aGroup("big", big), aGroup("small", []*planner.Case{small})))
	for _, key := range []string{"big[x=1]", "big[x=2]"} {
		c := doc.Case(key)
		if c.Status != results.Error || !strings.Contains(c.Reason, "launch big-0: its 2 cases take 66.0 MiB on their way to the nodes, of which case big[x=2] has 33.0, and 64 MiB is the most") {
			t.Errorf("%s: %s, %.300s", key, c.Status, c.Reason)
		}
	}
	if c := doc.Case("small"); c.Status != results.OK {
		t.Errorf("the other case: %s, %s", c.Status, c.Reason)
	}
}

// A launch that is longer than etcd takes at a time runs like any other, and leaves no
// key behind.
func TestALongLaunchRuns(t *testing.T) {
	b := newBench(t)
	endpoint, _ := slowEtcd(t)
	word := make([]byte, 3<<19)
	rand.NewChaCha8([32]byte{}).Read(word)
	doc := b.run(onePlan(aCase("c", option("provider", hex.EncodeToString(word)))), func(o *Options) { o.Etcd.Endpoints = []string{endpoint} })
	if c := doc.Case("c"); c.Status != results.OK {
		t.Errorf("%s, %.300s", c.Status, c.Reason)
	}
	s, err := cluster.Open(t.Context(), cluster.Config{Endpoints: []string{endpoint}}, "observer")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(false)
	if n, err := s.Keys(t.Context(), b.options().SessionID); err != nil || n != 0 {
		t.Errorf("%d keys are left, %v", n, err)
	}
}
