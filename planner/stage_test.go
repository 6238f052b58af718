package planner_test

import (
	"slices"
	"strings"
	"testing"

	"weir/dsl"
	"weir/planner"
)

func staged(t *testing.T, stages [4]string) *planner.Plan {
	t.Helper()
	src := "scenario: s\nruns:\n"
	for i, name := range []string{"a", "b", "c", "d"} {
		src += "  " + name + ":\n    workload: transfer\n    options: {fabric: sim, block_size: 1MiB}\n"
		if stages[i] != "" {
			src += "    stage: " + stages[i] + "\n"
		}
	}
	s, _, diags := dsl.Load("s.yaml", []byte(src), dsl.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := planner.Build(s)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p
}

// Runs stand under their stages in the order of first mention; those without one come first.
func TestStagesOfAPlan(t *testing.T) {
	p := staged(t, [4]string{"2 NIXL", "", "1 base", "2 NIXL"})
	var b strings.Builder
	if err := p.Text(&b); err != nil {
		t.Fatal(err)
	}
	var heads []string
	for line := range strings.SplitSeq(b.String(), "\n") {
		if head, _, _ := strings.Cut(line, ":"); strings.HasPrefix(line, "stage ") || strings.HasPrefix(line, "run ") {
			heads = append(heads, head)
		}
	}
	if want := []string{"run b", "stage 2 NIXL", "run a", "run d", "stage 1 base", "run c"}; !slices.Equal(heads,
		want) {
		t.Errorf("%q, want %q", heads, want)
	}
}

// A stage is how a run is shown: what it is called changes neither ids nor the digest, and a
// plan that was written says so too.
func TestAStageIsNotContent(t *testing.T) {
	one, other := staged(t, [4]string{"x", "", "y", ""}), staged(t, [4]string{"", "z", "", ""})
	for i, c := range one.Cases {
		if c.ID != other.Cases[i].ID {
			t.Errorf("%s: another id", c.Key)
		}
	}
	if one.Digest != other.Digest {
		t.Error("another digest")
	}
	if err := one.Verify(); err != nil {
		t.Error(err)
	}
}
