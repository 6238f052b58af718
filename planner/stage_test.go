package planner

import (
	"strings"
	"testing"
)

func staged(t *testing.T, stages [4]string) *Plan {
	t.Helper()
	src := "scenario: s\nruns:\n"
	for i, name := range []string{"a", "b", "c", "d"} {
		src += "  " + name + ":\n    workload: transfer\n    options: {fabric: sim, block_size: 1MiB}\n"
		if stages[i] != "" {
			src += "    stage: " + stages[i] + "\n"
		}
	}
	return build(t, src)
}

// Runs are shown under their stages in the order of first use; those without a stage come first.
func TestStagesOfAPlan(t *testing.T) {
	p := staged(t, [4]string{"2 NIXL", "", "1 base", "2 NIXL"})
	var heads []string
	for line := range strings.SplitSeq(textOf(t, p), "\n") {
		if head, _, _ := strings.Cut(line, ":"); strings.HasPrefix(line, "stage ") || strings.HasPrefix(line, "run ") {
			heads = append(heads, head)
		}
	}
	equal(t, "headings", heads, []string{"run b", "stage 2 NIXL", "run a", "run d", "stage 1 base", "run c"})
}

// A stage affects only the display of a run, neither ids nor the digest.
func TestAStageIsNotContent(t *testing.T) {
	one, other := staged(t, [4]string{"x", "", "y", ""}), staged(t, [4]string{"", "z", "", ""})
	for i, c := range one.Cases {
		equal(t, "id of "+c.Key, other.Cases[i].ID, c.ID)
	}
	equal(t, "digest", other.Digest, one.Digest)
}
