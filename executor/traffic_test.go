package executor

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"weir/executor/cluster"
	"weir/planner"
	"weir/results"
	"weir/test/phase"
	"weir/workload"
	"weir/workload/move"
)

// movement is what a case moves.
func movement(c *planner.Case) (*move.Spec, error) {
	a, err := specOf(c, nil)
	if err != nil {
		return nil, err
	}
	return a.spec.(*move.Spec), nil
}

// A case is read by its own workload, whether the plan was just made or comes from a
// file, where counts are what JSON makes of them.
func TestTrafficIsReadAsTraffic(t *testing.T) {
	for _, ranks := range []any{int64(3), 3.} {
		o, err := movement(&planner.Case{
			Workload: "traffic", Options: workload.Values{
				"generate": "incast 4KiB", "ranks": ranks, "iterations": 7., "fabric": "shm",
			},
		})
		if err != nil || o.Matrix == nil || o.Matrix.Compact() != "3: 1>0=4096 2>0=4096" || o.Ranks != 3 ||
			o.Iterations != 7 || o.Pattern != move.MatrixPattern {
			t.Errorf("%+v, %v", o, err)
		}
	}
	o, err := movement(&planner.Case{Workload: "transfer", Options: workload.Values{"block_size": "4KiB"}})
	if err != nil || o.Matrix != nil || o.BlockSize != 4096 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, c := range []*planner.Case{
		{Workload: "traffic", Options: workload.Values{"matrix": "2: 0>0=5"}}, {Workload: "traffic"},
		{Workload: "traffik"},
	} {
		if o, err := movement(c); err == nil {
			t.Errorf("%v was read as %+v", c, o)
		}
	}
}

// Cases of a launch that have one matrix have its JSON once.
func TestCasesOfOneMatrixShareIt(t *testing.T) {
	for name, c := range map[string]struct {
		options []workload.Values
		shared  bool
	}{
		"written": {[]workload.Values{{"matrix": "2: 0>1=5", "shards": int64(1)},
			{"matrix": "2: 0>1=5", "shards": int64(4)}}, true},
		"other cells": {[]workload.Values{{"matrix": "2: 0>1=5"}, {"matrix": "2: 0>1=6"}}, false},
		"other own cells": {[]workload.Values{{"matrix": "2: 0>1=5 1>1=7"},
			{"matrix": "2: 0>1=5 1>1=7", "own_cells": "ignore"}}, false},
		"generated": {[]workload.Values{{"generate": "ring 1B", "ranks": int64(2)},
			{"generate": "ring 1B", "ranks": int64(2), "op": "read"}}, true},
		"generated, others": {[]workload.Values{{"generate": "ring 1B", "ranks": int64(2)},
			{"generate": "ring 1B", "ranks": int64(3)}}, false},
	} {
		l := &launched{}
		for i, v := range c.options {
			one := &planner.Case{Key: fmt.Sprint("c", i), Workload: "traffic", Options: v}
			a, err := specOf(one, nil)
			if err != nil {
				t.Fatal(err)
			}
			l.cases, l.asked, l.kind = append(l.cases, one), append(l.asked, a.spec), a.Kind
		}
		if err := l.encode(); err != nil {
			t.Fatal(err)
		}
		a, b := l.engine.Cases[0].Large, l.engine.Cases[1].Large
		if len(a) == 0 || len(b) == 0 || (&a[0] == &b[0]) != c.shared {
			t.Errorf("%s: %s and %s", name, a, b)
		}
	}
}

// What no node can be told ends its cases and nothing else, and says whose fault it is.
func TestALaunchThatIsTooLongToTravelIsGivenUp(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	long := "key=" + strings.Repeat("x", 33<<20)
	nixl := option("fabric", "nixl")
	big := []*planner.Case{
		aCase("big[x=1]", nixl, option("nixl_params", long)), aCase("big[x=2]", nixl, option("nixl_params", long+"x")),
	}
	small := aCase("small")
	doc := b.run(aPlan(append(big, small), aGroup("big", big), aGroup("small", []*planner.Case{small})))
	for _, key := range []string{"big[x=1]", "big[x=2]"} {
		c := doc.Case(key)
		if c.Status != results.Error || !strings.Contains(c.Reason,
			"launch big-0: its 2 cases take 66.0 MiB on their way to the nodes, of which case big[x=2] has 33.0, and 64 MiB is the most") {
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
	doc := b.run(onePlan(aCase("c", option("provider", hex.EncodeToString(word)))),
		func(o *Options) { o.Etcd.Endpoints = []string{endpoint} })
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
