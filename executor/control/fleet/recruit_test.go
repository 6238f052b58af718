package fleet

import (
	"fmt"
	"testing"

	"github.com/weir-bench/weir/executor/control/registry"
)

// A session that has ranks with devices of one kind reserves all of a node.
func TestReservedDevices(t *testing.T) {
	node := About{Node: "n", GPUs: 2}
	for _, k := range []struct {
		needs Needs
		want  registry.Reservation
	}{
		{Needs{}, registry.Reservation{}},
		{Needs{GPUs: true}, registry.Reservation{GPUs: []int{0, 1}}},
		{Needs{NICs: true}, registry.Reservation{NICs: []string{"*"}}},
	} {
		var got registry.Reservation
		if got.GPUs, got.NICs = k.needs.devices(node); fmt.Sprint(got) != fmt.Sprint(k.want) {
			t.Errorf("%+v reserves %+v, want %+v", k.needs, got, k.want)
		}
	}
}

// An agent that does not meet the needs is not invited.
func TestLackingAgents(t *testing.T) {
	needs := Needs{Labels: map[string]string{"zone": "a"}, NodeGPUs: 2, Commands: true}
	for want, a := range map[string]About{
		"": {Labels: map[string]string{"zone": "a"}, GPUs: 2, Commands: true},
		"it has no label zone=a, which the scenario needs": {
			Labels: map[string]string{"zone": "b"}, GPUs: 2, Commands: true,
		},
		"it has 1 GPUs, and the scenario needs 2": {Labels: map[string]string{"zone": "a"}, GPUs: 1, Commands: true},

		"it may not run commands, which the scenario has: start it with --allow-commands": {
			Labels: map[string]string{"zone": "a"}, GPUs: 2,
		},
	} {
		if got := needs.lacking(a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}
