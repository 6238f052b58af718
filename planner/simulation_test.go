package planner

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/quantity"
)

// Options of the model exist only in simulated cases.
func TestSimulationOptionsExistForSimOnly(t *testing.T) {
	p := build(t, `
scenario: s
defaults: {launches: 1, options: {transfer: {sim_noise: 3%}}}
runs:
  a:
    workload: transfer
    options: {block_size: 4KiB}
    sweep: {fabric: [sim, shm], sim_latency: [1us, 1500ns]}
    when: fabric != "sim" || sim_latency >= 1us
    assert: [bandwidth >= 0.5 * sim_bandwidth where fabric == "sim"]
  real: {workload: transfer, options: {block_size: 4KiB, fabric: shm}}
`)
	for _, c := range p.Cases {
		_, has := c.Options["sim_noise"]
		if has != (c.Options["fabric"] == "sim") {
			t.Errorf("%s has options %v", c.Key, c.Options)
		}
	}
	c := p.Case("a[fabric=sim,sim_latency=1500ns]")
	if c == nil || c.Options["sim_latency"] != quantity.Time(1500) ||
		c.Options["sim_noise"] != quantity.Percent(0.03) || c.Options["sim_seed"] != int64(1) {
		t.Fatalf("the simulated case is %+v", c)
	}
	if a := c.Assertions; len(a) != 1 || *a[0].Bounds.Lower != 5 {
		t.Errorf("half of 10 GB/s is asserted as %+v", a)
	}
}

func TestSimulationAxes(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  a:
    workload: transfer
    options: {block_size: 4KiB, fabric: sim}
    launches: 1
    sweep:
      sim_latency: 1us..4us x2
      sim_bandwidth: [10 GB/s, 100 Gbps]
      sim_noise: 0%..2% +1%
    when: sim_noise < 2% && sim_bandwidth > 1 GB/s
`)
	planned := 0
	for _, c := range p.Cases {
		if c.Status == Planned {
			planned++
		}
	}
	if len(p.Cases) != 18 || planned != 12 || p.Case("a[sim_bandwidth=12.5GB/s,sim_latency=4us,sim_noise=1%]") == nil {
		t.Errorf("of %d cases %d run; the first is %s", len(p.Cases), planned, p.Cases[0].Key)
	}
}

func TestSimulationOptionsWithoutEffect(t *testing.T) {
	for what, text := range map[string]string{
		"an option": "options: {block_size: 4KiB, fabric: shm, sim_noise: 3%}",
		"an axis":   "options: {block_size: 4KiB}\n    sweep: {sim_noise: [1%, 3%]}",
	} {
		p, diags := plan(t, "test.yaml", "scenario: s\nruns:\n  a:\n    workload: transfer\n    "+text+"\n")
		if p != nil || len(diags) != 1 || !strings.Contains(diags[0].Detail,
			"Option sim_noise exists only with fabric sim") {
			t.Errorf("%s: %s", what, render(diags))
		}
	}
}

// Virtual time allows one launch at a time, so neither background load nor its run can be
// simulated.
func TestSimulatedLoadIsRefused(t *testing.T) {
	for _, fabrics := range [][2]string{{"sim", "sim"}, {"shm", "sim"}, {"sim", "tcp"}} {
		diags := refuse(t, fmt.Sprintf(`
scenario: s
defaults: {launches: 1, options: {transfer: {block_size: 4KiB}}}
runs:
  fore: {workload: transfer, options: {fabric: %s}}
  load: {workload: transfer, options: {fabric: %s}, while: fore}
`, fabrics[0], fabrics[1]))
		mentions(t, diags, 6, "Load cannot be simulated", "load cannot run during fore")
	}
}

// Ranks are computed when they are launched: a plan with 8192 ranks costs no more than one with 16.
// A matrix has a cell for each pair, so it has its own limit.
func TestManyRanksAreNoWorkToPlan(t *testing.T) {
	source := func(ranks int, fabric string) string {
		return fmt.Sprintf(`
scenario: s
defaults: {launches: 1, options: {transfer: {fabric: %s, block_size: 1MiB, iterations: 8192}}}
runs:
  a:
    workload: transfer
    options: {ranks: %d}
    sweep: {pattern: [pairwise, ring, one_to_many, many_to_one, all_to_all], batch: 1..100 +1}
    assert: [bandwidth >= 1 GB/s]
`, fabric, ranks)
	}
	size := func(ranks int) (bytes, objects float64) {
		text := source(ranks, "sim")
		objects = testing.AllocsPerRun(1, func() {
			saved, err := json.Marshal(build(t, text))
			if err != nil {
				t.Fatal(err)
			}
			bytes = float64(len(saved))
		})
		return bytes, objects
	}
	fewBytes, fewObjects := size(16)
	manyBytes, manyObjects := size(8192)
	if manyBytes > 1.01*fewBytes || manyObjects > 1.05*fewObjects {
		t.Errorf("a plan of 16 ranks has %v bytes of %v objects, one of 8192 has %v of %v", fewBytes, fewObjects,
			manyBytes, manyObjects)
	}
	for text, want := range map[string]string{
		source(1026, "tcp"): "at most 1024 ranks, not 1026",
		source(8194, "sim"): "above the largest ranks, which is 8192",
		"scenario: s\nruns: {a: {workload: traffic, " +
			"options: {fabric: sim, generate: uniform 1KiB, ranks: 1025}}}": "above the largest ranks, which is 1024",
	} {
		s, _, diags := dsl.Load("s.yaml", []byte(text), dsl.Options{})
		if !diags.HasErrors() {
			_, diags = Build(s)
		}
		if !strings.Contains(render(diags), want) {
			t.Errorf("%s\nsays %s, want %s", text, render(diags), want)
		}
	}
}
