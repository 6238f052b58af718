package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMemoryNodes(t *testing.T) {
	for _, c := range []struct {
		ranks [][]int
		want  []MemoryNode
	}{
		{nil, nil},
		{[][]int{nil, nil}, nil},
		{[][]int{{0}, {0}}, []MemoryNode{{0, []int{0, 1}}}},
		{[][]int{{1}, nil, {0, 1}, {0}}, []MemoryNode{{0, []int{2, 3}}, {1, []int{0, 2}}}},
	} {
		if diff := cmp.Diff(c.want, MemoryNodes(c.ranks)); diff != "" {
			t.Errorf("%v: %s", c.ranks, diff)
		}
	}
}
