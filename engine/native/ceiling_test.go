//go:build weirtest

package native

import (
	"testing"
	"time"

	"github.com/weir-bench/weir/test/phase"
)

// A path too slow for the time budget is probed with the minimum of spans, any other with the full number,
// before the timed part and after it; the copies for comparison always take 9 and 9. Both ends of tcp use
// each span's time.
func init() { shortenCeilings = func() { ceilingSpan(50_000) } }

func TestSlowPathsAreProbedLess(t *testing.T) {
	phase.Long(t)
	const usual = 1e9
	t.Cleanup(func() { ceilingTime(usual) })
	for fabric, ends := range map[string]uint64{"tcp": 2, "ucx": 1, "libfabric": 1} {
		if f := (native{}).Probe([]string{fabric})[fabric]; !f.Available {
			t.Logf("no %s here: %s", fabric, f.Reason)
			continue
		}
		for time, want := range map[time.Duration]uint64{time.Hour: 18 + ends*18, -1: 18 + ends*6} {
			ceilingTime(int64(time))
			runCases(t, fabric, 2, options(64<<10))
			if got := ceilingTime(usual); got != want {
				t.Errorf("%s with %v has %d spans, want %d", fabric, time, got, want)
			}
		}
	}
}
