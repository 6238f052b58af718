package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Options that one side lacks are of another version, and those that follow from other runs are results.
func TestOptionDifferences(t *testing.T) {
	base := &Case{Key: "a", Options: map[string]any{
		"block_size": "1MiB", "fabric": "shm", "iterations": "${run.b.x}", "old": 1,
		"roles": map[string]any{"s": "run -n 1"},
	}}
	now := &Case{Key: "a", Later: []string{"iterations"}, Options: map[string]any{
		"block_size": "16MiB", "fabric": "shm", "iterations": "${run.b.y}", "new": 1,
		"roles": map[string]any{"s": "run -n 2"},
	}}
	got := OptionDifferences([]CasePair{{base, now}})
	want := []Difference{
		{What: "option block_size", Base: "1MiB", New: "16MiB", Of: []string{"a"}},
		{What: "option roles.s", Base: "run -n 1", New: "run -n 2", Of: []string{"a"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
