package reporters

import (
	"slices"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weir-bench/weir/results"
)

// Several documents have a column each; in a narrow terminal a line each below the case. No line is too wide, and no
// document is left out.
func TestComparisonsFitTheTerminal(t *testing.T) {
	effect := func(change float64, v results.EffectVerdict) []*results.Effect {
		return []*results.Effect{{
			Case: "write[block_size=64KiB]", Metric: "bandwidth", Unit: "GB/s", Better: "higher",
			Base: &results.Observed{Value: 10, N: 3}, New: &results.Observed{Value: 10 * change, N: 3},
			Change: &results.Change{Value: change}, Verdict: v,
			Reasons: []results.Reason{
				{Kind: "10 against it"}, {Kind: results.ReasonKind("the reason of " + string(v))},
			},
		}}
	}
	all := []*results.Comparison{
		{Base: results.Compared{File: "a"}, New: results.Compared{File: "b"}, Effects: effect(0.9, results.Regression)},
		{Base: results.Compared{File: "a"}, New: results.Compared{File: "c"}, Effects: effect(1.1, results.Improved)},
		{New: results.Compared{File: "d"}, Effects: []*results.Effect{{Case: "other", Verdict: results.EffectError}}},
	}
	for width, rows := range map[int][]string{
		0: {
			"write[block_size=64KiB] bandwidth 10.00 GB/s 9.000 GB/s -10% ✗ 11.00 GB/s +10% ✓ -",
			"other - - - - - !", "B ✗ regression write[block_size=64KiB] bandwidth", "the reason of regression",
			"C ✓ improved write[block_size=64KiB] bandwidth", "the reason of improved",
		},
		60: {
			"write[block_size=64KiB] bandwidth", "A 10.00 GB/s", "B 9.000 GB/s -10% ✗", "C 11.00 GB/s +10% ✓",
			"D -", "other -", "D - !",
		},
	} {
		var b strings.Builder
		if err := ComparisonsText(&b, all, false, width); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(b.String()) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimSpace(line)); width > 0 && n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		for _, want := range rows {
			if !slices.Contains(lines, want) {
				t.Errorf("%d columns: there is no %q in\n%s", width, want, b.String())
			}
		}
	}
}
