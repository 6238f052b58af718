package reporters

import (
	"github.com/weir-bench/weir/results"
)

// waiverText is how far beyond its bound a value may lie that is expected to fail; "" if there is no limit.
func waiverText(f finding) string {
	a := f.assertion
	if a == nil || a.XFail == nil || a.XFail.Ceiling == 0 || a.Verdict != results.XFail && a.Verdict != results.XPass {
		return ""
	}
	return "a miss is accepted up to " + results.PercentText(a.XFail.Ceiling) + " beyond the bound"
}
