package transfer

import (
	"slices"
	"testing"
)

// Where data flows one way, the ranks of each end are known, since their links bound what is moved.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		pattern, op string
		both        bool
		from, to    []int
	}{
		{"pairwise", "write", false, []int{0, 1}, []int{2, 3}},
		{"pairwise", "read", false, []int{2, 3}, []int{0, 1}},
		{"pairwise", "write", true, nil, nil},
		{"one_to_many", "write", false, []int{0}, []int{1, 2, 3}},
		{"many_to_one", "write", false, []int{1, 2, 3}, []int{0}},
		{"many_to_one", "read", false, []int{0}, []int{1, 2, 3}},
		{"ring", "write", false, nil, nil},
		{"all_to_all", "write", false, nil, nil},
	} {
		values := map[string]any{"pattern": c.pattern, "op": c.op, "bidirectional": c.both}
		from, to := behaviour{}.Ends(func(name string) any { return values[name] }, 4)
		if !slices.Equal(from, c.from) || !slices.Equal(to, c.to) {
			t.Errorf("%s, %s, both ways %v: from %v to %v", c.pattern, c.op, c.both, from, to)
		}
	}
}
