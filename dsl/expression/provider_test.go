package expression

import "testing"

func TestProviderLowers(t *testing.T) {
	n, c := rich()
	for text, want := range map[string]string{
		`provider.hmem_p2p == "enabled"`:                               "provider.hmem_p2p is enabled",
		`provider.hmem_p2p != 'disabled'`:                              "provider.hmem_p2p is not disabled",
		`provider.hmem_p2p in ["enabled", "required"]`:                 "provider.hmem_p2p is enabled or required",
		`provider.hmem_p2p not in ["disabled"] where fabric == "ucx"`:  "provider.hmem_p2p is not disabled",
		`provider.tx_size == "256" where fabric == "ucx" && op == 'x'`: "",
	} {
		a, err := n.Assertion(text)
		if want == "" {
			if err == nil {
				t.Errorf("%s: its condition was not read", text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if a.Grouping() != PerCase || !a.Stated() || a.TrendAxis() != "" || len(a.Uses().Runs) > 0 {
			t.Errorf("%s: grouping %v", text, a.Grouping())
		}
		for _, s := range c.in("main", a.Where()) {
			out, err := a.Lower(s)
			if err != nil || out.Lowered != want || out.Text != text || out.Provider == nil || out.Subject != nil ||
				out.Transport != nil || out.Unit != "" {
				t.Errorf("%s: %+v %v", text, out, err)
			}
		}
	}
}

// A metric of that name would hide the fact, see Reserved.
func TestFactsAreNoMetrics(t *testing.T) {
	if !Reserved("provider.hmem_p2p") || Reserved("providers") {
		t.Error("provider.… is free for metrics, or too much is not")
	}
}
