package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/interop/ctperftest"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/scenarios"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/ep"
	"github.com/weir-bench/weir/workload/epcontrol"
	"github.com/weir-bench/weir/workload/epelastic"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/sequence"
	"github.com/weir-bench/weir/workload/traffic"
	"github.com/weir-bench/weir/workload/transfer"
)

// What is shipped, what import writes, and what the tables of options offer names only
// fabrics and kinds of memory that an engine has.
func TestNothingIsOfferedThatNoEngineHas(t *testing.T) {
	if !engineLinked {
		t.Skip("this build has no engine that moves bytes")
	}
	prober, err := engine.DefaultProber()
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.RunnerOf(engine.Native)
	if err != nil {
		t.Fatal(err)
	}
	fabrics := slices.Concat(slices.Collect(maps.Keys(prober.Probe(nil))), []string{fabric.AutoName, fabric.SimName})
	refused := map[[2]string]error{} // of the memory at an initiator and a target
	cases := 0
	for _, s := range offered(t) {
		p, diags := planner.Build(s)
		if diags.HasErrors() {
			t.Fatalf("%s: %v", s.File, diags)
		}
		for _, c := range p.Cases {
			if c.Status != planner.Planned {
				continue // as a replay without a trace
			}
			cases++
			k, _ := workload.Lookup(c.Workload)
			spec, err := k.Spec(c.Options)
			if err != nil {
				t.Fatalf("%s, %s: %v", s.File, c.Key, err)
			}
			moves, ok := spec.(*move.Spec)
			if !ok {
				if _, err := engine.RunnerOf(spec.Demand().Runner); err != nil {
					t.Errorf("%s, %s: %v", s.File, c.Key, err)
				}
				continue
			}
			o := *moves
			memory := [2]string{o.Initiator, o.Target}
			if _, tried := refused[memory]; !tried && !slices.Contains(memory[:], "vram") { // which needs a driver
				refused[memory] = opened(t, eng, o)
			}
			if !slices.Contains(fabrics, o.Fabric) || refused[memory] != nil {
				t.Errorf("%s, %s: fabric %s with memory %v: %v", s.File, c.Key, o.Fabric, memory, refused[memory])
			}
		}
	}
	if cases < 100 {
		t.Errorf("only %d cases were looked at", cases)
	}
}

// opened is why an engine makes no rank with the memory of a case.
func opened(t *testing.T, eng engine.Runner, o move.Spec) error {
	t.Helper()
	page, err := unix.Mmap(-1, 0, engine.ControlSize, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	small := move.Spec{
		Initiator: o.Initiator, Target: o.Target, BlockSize: 4096, Batch: 1, Iterations: 1, InFlight: 1, Threads: 1,
		Ranks:   2,
		Pattern: "pairwise", Mode: "stream", Verify: "none", Reuse: "hot", Pages: "default",
	}
	spec, err := json.Marshal(small)
	if err != nil {
		t.Fatal(err)
	}
	c := engine.Case{Key: "a", Spec: spec, Timeout: 1e9}
	l := engine.Launch{Fabric: "shm", Ranks: 2, Nodes: []string{"a", "a"}, Cases: []engine.Case{c}}
	_, err = eng.Open(l, engine.Identity{}, engine.ControlAt(page)) // nobody connects to it, so it ends with the test
	return err
}

// offered are all scenarios that weir gives to its users: as they are, and with each
// value that the option has which a variable is named after.
func offered(t *testing.T) (all []*dsl.Scenario) {
	t.Helper()
	load := func(path string, src []byte, vars map[string]string) *dsl.Scenario {
		s, _, diags := dsl.Load(path, src, dsl.Options{Vars: vars})
		if diags.HasErrors() {
			t.Fatalf("%s %v: %v", path, vars, diags)
		}
		all = append(all, s)
		return s
	}
	for _, e := range scenarios.Entries() {
		s := load(e.File, e.Content, nil)
		for _, v := range s.Variables {
			for _, value := range usable(s.Runs[0].Workload, v.Name) {
				load(e.File, e.Content, map[string]string{v.Name: value})
			}
		}
	}
	for _, path := range glob(t, "../../examples/*.yaml", "../../examples/*.hcl") {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		load(path, src, nil)
	}
	const published = "../../interop/ctperftest/testdata/good/"
	for _, path := range glob(t, published+"*.yaml", published+"*/metadata.yaml") {
		if c, _, _ := ctperftest.Read(path); c != nil { // else it is a scenario that was made of one
			c.Move("dram")
			dir := filepath.Dir(path)
			load(filepath.Join(dir, "imported.yaml"), c.Scenario(dir), nil)
		}
	}
	const one = "scenario: one\nruns: {a: {workload: %s, options: {%s, %s: %s}}}\n"
	needs := map[*workload.Kind]string{
		transfer.Kind:  "block_size: 4KiB",
		traffic.Kind:   "matrix: [[0, 1], [0, 0]]",
		ep.Kind:        "ranks: 2",
		epcontrol.Kind: "ranks: 2",
		epelastic.Kind: "phases: [{ranks: 0..3}]",
		sequence.Kind:  "patterns: [{matrix: [[0, 1], [0, 0]]}]",
	}
	for _, k := range workload.Kinds() {
		for _, name := range []string{"fabric", "memory", "initiator", "target"} {
			for _, v := range usable(k, name) {
				load("one.yaml", fmt.Appendf(nil, one, k.Name, needs[k], name, v), nil)
			}
		}
	}
	return all
}

// usable are the values that an option has, where it is one of fixed values: but fabric
// sim, of which the workloads of matrices say themselves that they refuse it, and memory of GPUs with
// the fabric that moves nothing else, which need a driver (vram.txtar has a stand-in).
func usable(k *workload.Kind, option string) []string {
	o, _ := k.Option(option)
	return slices.DeleteFunc(slices.Clone(o.Values), func(v string) bool {
		return v == fabric.SimName && k != transfer.Kind || v == "vram" || v == "cuda" ||
			k == epelastic.Kind && option == "fabric" && v != "shm" && v != "tcp" // ranks of these may be killed
	})
}

func glob(t *testing.T, patterns ...string) (all []string) {
	t.Helper()
	for _, p := range patterns {
		files, err := filepath.Glob(p)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", p, files, err)
		}
		all = append(all, files...)
	}
	return all
}
