package expression

import "testing"

func TestTransportLowers(t *testing.T) {
	n, c := rich()
	for text, want := range map[string]string{
		`transport == "rc_mlx5"`:                           "every transport is rc_mlx5",
		`transport != 'tcp'`:                               "no transport is tcp",
		`transport in ["rc_mlx5", "dc_mlx5"]`:              "every transport is rc_mlx5 or dc_mlx5",
		`transport not in ["tcp"]`:                         "no transport is tcp",
		`transport startsWith "rc"`:                        "every transport starts with rc",
		`"tcp;ofi_rxm" in transport where fabric == "ucx"`: "some transport is tcp;ofi_rxm",
		`"tcp" not in transport`:                           "no transport is tcp",
	} {
		a, err := n.Assertion(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if a.Grouping() != PerCase || !a.Stated() || a.TrendAxis() != "" || len(a.Uses().Runs) > 0 {
			t.Errorf("%s: grouping %v", text, a.Grouping())
		}
		for _, s := range c.in("main", a.Where()) {
			out, err := a.Lower(s)
			if err != nil || out.Lowered != want || out.Text != text || out.Transport == nil || out.Subject != nil ||
				out.Unit != "" {
				t.Errorf("%s: %+v %v", text, out, err)
			}
		}
	}
}
