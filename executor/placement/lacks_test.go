package placement

import (
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
)

func TestNoMemoryNode(t *testing.T) {
	two := []results.NUMANode{{ID: 0}, {ID: 2}}
	for _, c := range []struct {
		want  option.Placement
		there []results.NUMANode
		says  string
	}{
		{option.Default, two, ""}, {option.Local, two, ""}, {0, two, ""}, {2, two, ""},
		{1, nil, ""}, // the kernel lists none
		{1, two, "NUMA node 1 on node a, which has 0, 2"},
	} {
		if got := numaMissing(c.want, "a", c.there); got != c.says {
			t.Errorf("%v: %q, want %q", c.want, got, c.says)
		}
	}
}
