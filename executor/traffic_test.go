package executor

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// movement is the specification of a case.
func movement(c *planner.Case) (*move.Spec, error) {
	a, err := specOf(c, nil)
	if err != nil {
		return nil, err
	}
	return a.spec.(*move.Spec), nil
}

// A case is read by its own workload, from the planner or from a file, where JSON makes counts floats.
func TestTrafficIsReadAsTraffic(t *testing.T) {
	for _, ranks := range []any{int64(3), 3.} {
		o, err := movement(&planner.Case{
			Workload: "traffic", Options: option.Values{
				"generate": "incast 4KiB", "ranks": ranks, "iterations": 7., "fabric": "shm",
			},
		})
		if err != nil || o.Matrix == nil || o.Matrix.Compact() != "3: 1>0=4096 2>0=4096" || o.Ranks != 3 ||
			o.Iterations != 7 || o.Pattern != move.MatrixPattern {
			t.Errorf("%+v, %v", o, err)
		}
	}
	o, err := movement(&planner.Case{Workload: "transfer", Options: option.Values{"block_size": "4KiB"}})
	if err != nil || o.Matrix != nil || o.BlockSize != 4096 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, c := range []*planner.Case{
		{Workload: "traffic", Options: option.Values{"matrix": "2: 0>0=5"}}, {Workload: "traffic"},
		{Workload: "traffik"},
	} {
		if o, err := movement(c); err == nil {
			t.Errorf("%v was read as %+v", c, o)
		}
	}
}

// Cases of a launch with the same matrix share its JSON.
func TestCasesOfOneMatrixShareIt(t *testing.T) {
	for name, c := range map[string]struct {
		options []option.Values
		shared  bool
	}{
		"written": {[]option.Values{{"matrix": "2: 0>1=5", "shards": int64(1)},
			{"matrix": "2: 0>1=5", "shards": int64(4)}}, true},
		"other cells": {[]option.Values{{"matrix": "2: 0>1=5"}, {"matrix": "2: 0>1=6"}}, false},
		"other own cells": {[]option.Values{{"matrix": "2: 0>1=5 1>1=7"},
			{"matrix": "2: 0>1=5 1>1=7", "own_cells": "ignore"}}, false},
		"generated": {[]option.Values{{"generate": "ring 1B", "ranks": int64(2)},
			{"generate": "ring 1B", "ranks": int64(2), "op": "read"}}, true},
		"generated, others": {[]option.Values{{"generate": "ring 1B", "ranks": int64(2)},
			{"generate": "ring 1B", "ranks": int64(3)}}, false},
	} {
		l := &launchRun{}
		for i, v := range c.options {
			one := &planner.Case{Key: fmt.Sprint("c", i), Workload: "traffic", Options: v}
			a, err := specOf(one, nil)
			if err != nil {
				t.Fatal(err)
			}
			l.cases, l.specs, l.kind = append(l.cases, one), append(l.specs, a.spec), a.Kind
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

// A launch that is too long fails its own cases only, and names the longest.
func TestALaunchThatIsTooLongToTravelIsGivenUp(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	long := "key=" + strings.Repeat("x", 33<<20)
	nixl := withOption("fabric", "nixl")
	big := []*planner.Case{
		aCase("big[x=1]", nixl, withOption("nixl_params", long)),
		aCase("big[x=2]", nixl, withOption("nixl_params", long+"x")),
	}
	small := aCase("small")
	doc := b.run(aPlan(append(big, small), aGroup("big", big), aGroup("small", []*planner.Case{small})))
	for _, key := range []string{"big[x=1]", "big[x=2]"} {
		c := doc.Case(key)
		if c.Status != results.Error || !strings.Contains(c.Reason,
			"launch big-0: its 2 cases take 66.0 MiB encoded, at most 64 MiB are allowed (the longest: case big[x=2], 33.0 MiB)") {
			t.Errorf("%s: %s, %.300s", key, c.Status, c.Reason)
		}
	}
	if c := doc.Case("small"); c.Status != results.OK {
		t.Errorf("the other case: %s, %s", c.Status, c.Reason)
	}
}

// A launch of megabytes runs like any other.
func TestALongLaunchRuns(t *testing.T) {
	b := newBench(t)
	word := make([]byte, 3<<19)
	rand.NewChaCha8([32]byte{}).Read(word)
	doc := b.run(onePlan(aCase("c", withOption("provider", hex.EncodeToString(word)))))
	if c := doc.Case("c"); c.Status != results.OK {
		t.Errorf("%s, %.300s", c.Status, c.Reason)
	}
}
