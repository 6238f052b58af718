package run

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

func node(name string, gpus, cpus int, fabrics map[string]results.Fabric) results.Node {
	return results.Node{Name: name, GPUs: make([]results.GPU, gpus), CPU: results.CPU{Allowed: cpus}, Fabrics: fabrics}
}

func TestConditionsSeeWhatEveryNodeHas(t *testing.T) {
	yes, no := results.Fabric{Available: true}, results.Fabric{Reason: "libucp.so.0 is not installed"}
	nodes := []results.Node{
		node("n1", 2, 8, map[string]results.Fabric{"shm": yes, "ucx": yes}),
		node("n2", 1, 4, map[string]results.Fabric{"shm": yes, "ucx": no}),
	}
	for _, c := range []struct {
		when, fabric string
		run          bool
		reason       string
	}{
		{"fabric in host.fabrics", "shm", true, ""},
		{"fabric in host.fabrics", "ucx", false,
			"when: fabric in host.fabrics; node n2 has no ucx: libucp.so.0 is not installed"},
		{"host.nodes == 2 && host.gpus == 1 && host.cpus == 4", "shm", true, ""},
		{"host.gpus >= 2", "shm", false, "when: host.gpus >= 2"},
	} {
		run, reason, err := Admits(&planner.Case{When: c.when, Workload: "transfer",
			Options: option.Values{"fabric": c.fabric}}, nodes)
		if err != nil {
			t.Errorf("%s: %v", c.when, err)
		}
		if run != c.run || reason != c.reason {
			t.Errorf("%s with %s: %v, %q; want %v, %q", c.when, c.fabric, run, reason, c.run, c.reason)
		}
	}
	if _, _, err := Admits(&planner.Case{When: "fabric in"}, nodes); err == nil ||
		!strings.Contains(err.Error(), "fabric in") {
		t.Errorf("a condition that cannot be read: %v", err)
	}
}
