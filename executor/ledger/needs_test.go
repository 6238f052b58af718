package ledger

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

func TestTrendThatFailsIsANeedThatIsNotMet(t *testing.T) {
	l := &Ledger{Plan: &planner.Plan{}, Doc: &results.Document{
		Cases: []*results.Case{{Key: "a", Status: results.OK}},
		Assertions: []*results.AssertionVerdict{{
			Assertion: assertion.Assertion{Name: "grows", Cases: []string{"a", "b"}}, Verdict: results.Fail,
		}},
	}}
	l.index = l.newIndex()
	if got := l.unmetNeed(&planner.Case{Needs: []string{"a"}}); !strings.Contains(got, "grows") {
		t.Errorf("got %q", got)
	}
}

func TestDirNames(t *testing.T) {
	long := "r[env.X=" + strings.Repeat("y", 300) + "]"
	keys := []string{"bw[block_size=64MiB,op=read]", "bw", "a/b", "a b", "A B", "..", "-x", long, long + "2", "größe"}
	names := DirNames(keys)
	for key, want := range map[string]string{
		"bw[block_size=64MiB,op=read]": "bw.block_size=64MiB,op=read",
		"bw":                           "bw", "a/b": "a_b", "a b": "a_b~2", "A B": "A_B~3", "..": "_", "-x": "x",
	} {
		if names[key] != want {
			t.Errorf("%q becomes %q, want %q", key, names[key], want)
		}
	}
	seen := map[string]string{}
	for _, key := range keys {
		n := names[key]
		if other, ok := seen[strings.ToLower(n)]; ok {
			t.Errorf("%q and %q both become %q", key, other, n)
		}
		if len(n) > 200 || strings.ContainsAny(n, "/[]") {
			t.Errorf("%q becomes %q", key, n)
		}
		seen[strings.ToLower(n)] = key
	}
}
