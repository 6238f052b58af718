package gate

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// judgeTransport judges an assertion about the transports that carried data. It is an error if a launch
// does not report them.
func (eval *evaluator) judgeTransport(c *results.Case, a *results.AssertionVerdict) outcome {
	return eval.judgeStated(c, a, launchProperty{
		words: a.Transport.String(), suffix: "carried the data in",
		check:  func(l *results.Launch) (results.Verdict, results.Reason) { return transportMatches(a.Transport, l) },
		format: func(l *results.Launch) string { return results.CarriedBy(l.Transports) },
	})
}

// launchProperty is an assertion about a property of launches that is not a number.
type launchProperty struct {
	words  string
	check  func(*results.Launch) (results.Verdict, results.Reason) // pass, fail or an error, and why
	format func(*results.Launch) string                            // the property of a launch as text
	suffix string                                                  // words between that and the number of launches
}

// judgeStated judges such an assertion: one launch that does not match refutes it at once; it holds if all
// launches up to an interim analysis match.
func (eval *evaluator) judgeStated(c *results.Case, a *results.AssertionVerdict, s launchProperty) outcome {
	if c == nil {
		return invalidAssertion("it belongs to no case")
	}
	if o, bad := eval.unusable(c); bad {
		return o
	}
	launches := byIndex(c.Succeeded())
	var used []string
	for _, l := range launches {
		verdict, why := s.check(l)
		if verdict != results.Pass {
			o := outcome{verdict: verdict}
			if verdict == results.Fail {
				o.addReasons(results.Because(results.StatedBut, results.Text("stated", s.words)))
			}
			o.addReasons(why.At(l.Index))
			return o
		}
		if text := s.format(l); !slices.Contains(used, text) {
			used = append(used, text)
		}
	}
	n := len(launches)
	o := outcome{verdict: results.Pass}
	held := results.Because(results.StatedHeld, results.Text("had", strings.Join(used, ", or ")),
		results.Text("held", s.suffix))
	if n > 1 {
		held.Values = append(held.Values, launched(n))
	}
	o.addReasons(held)
	if next := nextAnalysis(a.Looks, n); !analysisDue(a.Looks, n) {
		o.verdict, o.undecided = results.InconclusiveVerdict, []string{c.Key}
		o.addReasons(pendingReason(next, n))
	}
	o.addReasons(retriedIn([]*results.Case{c}))
	return o
}

// transportMatches reports whether a launch matches: pass, fail, or an error. If no transport was
// certainly used, at least one of the possible ones was: the result is known only if it is the same for
// each of them.
func transportMatches(t *assertion.Transport, l *results.Launch) (results.Verdict, results.Reason) {
	unknown := func(values ...results.Value) (results.Verdict, results.Reason) {
		return results.ErrorVerdict, results.Because(results.TransportUnknown, values...)
	}
	data := dataOf(l)
	if len(data) == 0 {
		return unknown()
	}
	var named, others []results.Transport
	sure := map[bool]bool{} // whether a named transport, or another one, was certainly used
	for _, d := range data {
		if d.Name == "" {
			return unknown(results.Text("ranks", d.RanksText()))
		}
		is := t.Matches(d.Name, d.Device)
		if is {
			named = append(named, d)
		} else {
			others = append(others, d)
		}
		sure[is] = sure[is] || d.Use == results.DataUse
	}
	if len(others) == 0 {
		sure[true] = true
	}
	if len(named) == 0 {
		sure[false] = true
	}
	wrong := others
	var held, refuted bool
	switch t.Of {
	case assertion.All:
		held, refuted = len(others) == 0, sure[false]
	case assertion.Some:
		held, refuted = sure[true], len(named) == 0
	case assertion.None:
		held, refuted, wrong = len(named) == 0, sure[true], named
	}
	// An opaque transport may contain a named one.
	if i := slices.IndexFunc(others, func(d results.Transport) bool { return d.Opaque }); i >= 0 &&
		held == (t.Of == assertion.None) {
		return unknown(results.Text("opaque", others[i].String()))
	}
	switch {
	case held:
		return results.Pass, results.Reason{}
	case refuted:
		return results.Fail, results.Because(results.WrongTransport, results.Text("transport",
			results.CarriedBy(wrong)))
	}
	return unknown(results.Text("which", strings.Join(results.TransportTexts(data), " and ")))
}

func dataOf(l *results.Launch) []results.Transport {
	return slices.DeleteFunc(slices.Clone(l.Transports), func(t results.Transport) bool { return !t.Data() })
}
