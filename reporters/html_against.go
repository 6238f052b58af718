package reporters

import (
	"github.com/weir-bench/weir/results"
)

// againstText says with which sessions a page compares: the baseline and the previous session; "" without both.
func againstText(doc *results.Document) string {
	base, before := "", ""
	if b := doc.Baseline; b != nil {
		role := "against the baseline"
		if previousIsBaseline(doc) {
			role = "against the baseline and previous session"
		}
		base = sentence(" ", role, plain(b.File), parenthesis(tagged("session ", plain(b.Session))))
		if b.Fingerprint != "" && b.Fingerprint != doc.Environment.Fingerprint {
			base += ", of another environment"
		}
	}
	if p := doc.Previous; p != nil && !previousIsBaseline(doc) {
		before = sentence(" ", "previous session:", plain(p.Session), parenthesis(plain(p.Status)))
	}
	return clip(sentence("; ", base, before), " …")
}
