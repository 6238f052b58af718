package reporters

import (
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// hasReason reports whether a kind is among some reasons.
func hasReason(reasons []results.Reason, kind results.ReasonKind) bool {
	return slices.ContainsFunc(reasons, func(r results.Reason) bool { return r.Kind == kind })
}

// unneededOf reports whether a case may fail and works.
func unneededOf(c *results.Case) bool {
	return c.MayFail != nil && hasReason(c.MayFail.Reasons, results.MayFailUnneeded)
}

// unneeded lists expectations to fail that can be removed: a may_fail if all its cases work, and an expired xfail if
// its assertion holds.
func unneeded(doc *results.Document) (out []finding) {
	for _, run := range byRun(doc) {
		ran := slices.DeleteFunc(slices.Clone(run), func(c *results.Case) bool {
			return c.MayFail == nil || c.Status == results.Skipped || c.Status == results.Excluded
		})
		if len(ran) > 0 && !slices.ContainsFunc(ran, func(c *results.Case) bool { return !unneededOf(c) }) {
			f := finding{
				standing: string(assertion.Info), where: plain(ran[0].Key), message: plain(ran[0].MayFail.Message),
				of: ran[0],
			}
			if len(ran) > 1 {
				f.where = plural(len(ran), "case") + " of " + plain(ran[0].Run)
			}
			out = append(out, f)
		}
		for _, c := range run {
			for _, a := range c.Assertions {
				if hasReason(a.Reasons, results.ExpectationUnneeded) {
					f := found(a, c.Key)
					f.standing, f.of = string(assertion.Info), c
					out = append(out, f)
				}
			}
		}
	}
	for _, a := range doc.Assertions {
		if hasReason(a.Reasons, results.ExpectationUnneeded) {
			f := found(a, over(doc, a))
			f.standing = string(assertion.Info)
			out = append(out, f)
		}
	}
	return out
}
