package reporters

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// Structured options that differ by values of axes are one text with the names of the axes; others are not.
func TestOptionsWithAxes(t *testing.T) {
	of := func(size, threads int64, extra string) *results.Case {
		roles := fmt.Sprintf(`{"r":{"command":["bench","%d","%d"%s]}}`, size, threads, extra)
		return &results.Case{Workload: "command", AxisOrder: []string{"size", "threads"},
			Axes: map[string]any{"size": size, "threads": threads}, Options: map[string]any{"roles": roles}}
	}
	same := []*results.Case{of(4096, 1, ""), of(4096, 2, ""), of(1, 1, ""), of(1, 2, "")}
	if got := strings.Join(conditionLines(same), "\n"); !strings.Contains(got,
		"options: roles={r: {command: [bench, ${axis.size}, ${axis.threads}]}}") {
		t.Error(got)
	}
	other := []*results.Case{of(4096, 1, ""), of(4096, 2, `,"x"`)}
	if got := strings.Join(conditionLines(other), "\n"); strings.Contains(got, "${axis") {
		t.Error(got)
	}
}
