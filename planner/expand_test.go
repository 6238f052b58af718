package planner

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/quantity"
)

func TestFirstAxisIsOutermost(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  a:
    workload: transfer
    sweep:
      in_flight: [1, 2]
      block_size: 4KiB..16KiB x2
`)
	equal(t, "keys", keys(p), []string{
		"a[block_size=4KiB,in_flight=1]", "a[block_size=8KiB,in_flight=1]", "a[block_size=16KiB,in_flight=1]",
		"a[block_size=4KiB,in_flight=2]", "a[block_size=8KiB,in_flight=2]", "a[block_size=16KiB,in_flight=2]",
	})
	c := p.Cases[4]
	equal(t, "axes", c.Axes, map[string]any{"in_flight": int64(2), "block_size": quantity.Size(8192)})
	equal(t, "axis order", c.AxisOrder, []string{"in_flight", "block_size"})
	equal(t, "option set by the axis", c.Options["block_size"], any(quantity.Size(8192)))
	equal(t, "option at its default", c.Options["iterations"], any(int64(100)))
}

func TestKeyQuotesWhatWouldBeAmbiguous(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{"rc", "r[env.T=rc]"},
		{"rc,ud", `r[env.T="rc,ud"]`},
		{"", `r[env.T=""]`},
		{"a]", `r[env.T="a]"]`},
		{"a*", `r[env.T="a*"]`},
	} {
		equal(t, "key of "+c.value, Key("r", map[string]string{"env.T": c.value}), c.want)
	}
}

func TestImpossibleOptionsAreReportedOnceForARun(t *testing.T) {
	d := refuse(t, `
scenario: s
runs:
  odd:
    workload: transfer
    options: {ranks: 3}
    sweep: {block_size: [4KiB, 8KiB, 16KiB]}
`)
	mentions(t, d, 6, "even number of ranks") // where ranks stands
	if n := strings.Count(render(d), "even number"); n != 1 {
		t.Errorf("reported %d times", n)
	}
}
