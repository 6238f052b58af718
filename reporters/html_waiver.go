package reporters

import (
	"github.com/weir-bench/weir/results"
)

// waiverText is how far beyond its bound a value may lie that is expected to fail; "" without an expectation.
func waiverText(f finding) string {
	if f.assertion == nil || f.assertion.XFail == nil {
		return ""
	}
	x := f.assertion.XFail
	text := "waiver until " + plain(x.Until) + " (" + plain(clip(x.Why(), " …")) + "): "
	if x.Ceiling == 0 {
		return text + "any miss is accepted"
	}
	return text + "a miss is accepted up to " + results.PercentText(x.Ceiling) + " beyond the bound"
}
