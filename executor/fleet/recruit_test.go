package fleet

import (
	"fmt"
	"testing"

	"weir/executor/cluster"
	"weir/executor/daemon"
)

// A session that has ranks with devices of one kind claims all of a node.
func TestDevicesAreClaimed(t *testing.T) {
	node := daemon.About{Node: "n", GPUs: 2}
	for _, k := range []struct {
		needs Needs
		want  cluster.Claim
	}{
		{Needs{}, cluster.Claim{}},
		{Needs{GPUs: true}, cluster.Claim{GPUs: []int{0, 1}}},
		{Needs{NICs: true}, cluster.Claim{NICs: []string{"*"}}},
	} {
		var got cluster.Claim
		if got.GPUs, got.NICs = k.needs.devices(node); fmt.Sprint(got) != fmt.Sprint(k.want) {
			t.Errorf("%+v claims %+v, want %+v", k.needs, got, k.want)
		}
	}
}

// What an agent says of itself saves asking it in vain.
func TestAgentsThatAreOfNoUse(t *testing.T) {
	needs := Needs{Labels: map[string]string{"zone": "a"}, NodeGPUs: 2, Commands: true}
	for want, a := range map[string]daemon.About{
		"": {Labels: map[string]string{"zone": "a"}, GPUs: 2, Commands: true},
		"it has no label zone=a, which the scenario asks for": {
			Labels: map[string]string{"zone": "b"}, GPUs: 2, Commands: true,
		},
		"it has 1 GPUs, and the scenario asks for 2": {Labels: map[string]string{"zone": "a"}, GPUs: 1, Commands: true},

		"it runs no commands, which the scenario has: start it with --allow-commands": {
			Labels: map[string]string{"zone": "a"}, GPUs: 2,
		},
	} {
		if got := needs.refuses(a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}
