package reporters

import (
	"slices"
	"strconv"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// hasReason reports whether a kind is among some reasons.
func hasReason(reasons []results.Reason, kind results.ReasonKind) bool {
	return slices.ContainsFunc(reasons, func(r results.Reason) bool { return r.Kind == kind })
}

// acceptedText says how far beyond its bound an expected failure may be; "" if any failure is accepted, or if
// the message has it.
func acceptedText(a *results.AssertionVerdict) string {
	if a == nil || a.XFail == nil || a.XFail.Ceiling <= 0 || hasReason(a.Reasons, results.BeyondCeiling) {
		return ""
	}
	told := slices.ContainsFunc(expectations, func(k results.ReasonKind) bool { return hasReason(a.Reasons, k) })
	if !told {
		return ""
	}
	return "its ceiling is " + results.Percent.WithUnit(results.Percent.Exact(a.XFail.Ceiling)) + " beyond the bound"
}

// expectations are the reasons that tell an expected failure, with its day and why it is expected.
var expectations = []results.ReasonKind{
	results.ExpectedToFail, results.HoldsUnexpectedly, results.ExpectationExpired, results.ExpectationUnneeded,
}

// whole is the message of a finding with the ceiling of an expected failure.
func (f finding) whole() string { return sentence("; ", f.message, acceptedText(f.assertion)) }

// waiverOf is the expected failure for a metric of a case: that of the worst of its assertions with one, or the
// case's own; nil: none.
func waiverOf(c *results.Case, metric string) *assertion.XFail {
	var of *results.AssertionVerdict
	for _, a := range c.Assertions {
		about := a.XFail != nil && a.Subject != nil && slices.Contains(a.Subject.Metrics(), metric)
		if about && (of == nil || rank(a.Standing()) < rank(of.Standing())) {
			of = a
		}
	}
	switch {
	case of != nil:
		return of.XFail
	case c.MayFail != nil:
		return &c.MayFail.XFail
	}
	return nil
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

// waivers are the expected failures of a document, in a gauge that exists if there are any.
type waivers struct {
	of    *gauges
	gauge *gauge
}

// add adds an expected failure, if there is one, until the end of its last day.
func (w *waivers) add(x *assertion.XFail, labels []gaugeLabel) {
	if x == nil {
		return
	}
	day, err := time.Parse(time.DateOnly, x.Until)
	if err != nil {
		return // documents with such a day are refused
	}
	if w.gauge == nil {
		w.gauge = w.of.add("xfail_until_timestamp", "seconds",
			"end of the last day, since the epoch, on which the assertion, or without one the case, may fail; xfail_ceiling is how far beyond the bound, as a share of it")
	}
	more := []gaugeLabel{label("reason", x.Why()), label("until", x.Until)}
	if x.Ceiling > 0 {
		more = append(more, label("xfail_ceiling", raw(x.Ceiling)))
	}
	w.gauge.sample(strconv.FormatInt(day.AddDate(0, 0, 1).Unix(), 10), labels, more...)
}
