package causes

import (
	"slices"
	"testing"

	"github.com/weir-bench/weir/workload"
	_ "github.com/weir-bench/weir/workload/kinds"
)

// Rules read options by their names, which some workload must have.
func TestRulesReadOptionsThatExist(t *testing.T) {
	for _, name := range []string{"block_size", "in_flight", "initiator", "target", "memory"} {
		if !slices.ContainsFunc(workload.Kinds(), func(k *workload.Kind) bool { _, ok := k.Option(name); return ok }) {
			t.Errorf("no workload has option %s", name)
		}
	}
}
