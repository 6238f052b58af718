package placement

import (
	"testing"

	"weir/results"
	"weir/workload"
)

func TestNoMemoryNode(t *testing.T) {
	two := []results.NUMANode{{ID: 0}, {ID: 2}}
	for _, c := range []struct {
		want  workload.Placement
		there []results.NUMANode
		says  string
	}{
		{workload.Default, two, ""}, {workload.Local, two, ""}, {0, two, ""}, {2, two, ""},
		{1, nil, ""}, // the kernel lists none
		{1, two, "NUMA node 1 on node a, which has 0, 2"},
	} {
		if got := noMemoryNode(c.want, "a", c.there); got != c.says {
			t.Errorf("%v: %q, want %q", c.want, got, c.says)
		}
	}
}
