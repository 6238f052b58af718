package gate

import (
	"fmt"
	"slices"
	"strings"

	"weir/assertion"
	"weir/results"
)

// judgeTransport judges a statement about what carried the data of a case. Where a launch
// does not say what carried its data it is an error.
func (eval *evaluator) judgeTransport(c *results.Case, a *results.AssertionVerdict) outcome {
	return eval.judgeStated(c, a, launchFact{
		words: a.Transport.String(), held: "carried the data in",
		holds: func(l *results.Launch) (results.Verdict, string) { return holds(a.Transport, l) },
		had:   func(l *results.Launch) string { return results.CarriedBy(l.Transports) },
	})
}

// launchFact is a statement about what a launch had, of which there is no number.
type launchFact struct {
	words string
	holds func(*results.Launch) (results.Verdict, string) // pass, fail or an error, and why
	had   func(*results.Launch) string                    // what it had
	held  string                                          // what stands between that and the launches
}

// judgeStated judges such a statement. There is nothing to estimate: each launch either is as
// stated or is not, so one that is not refutes it at once, and it holds when it held in all
// launches up to a look.
func (eval *evaluator) judgeStated(c *results.Case, a *results.AssertionVerdict, s launchFact) outcome {
	if c == nil {
		return failed("it belongs to no case")
	}
	if o, bad := eval.unusable(c); bad {
		return o
	}
	launches := byIndex(c.Succeeded())
	var used []string
	for _, l := range launches {
		verdict, why := s.holds(l)
		if verdict != results.Pass {
			o := outcome{verdict: verdict, message: fmt.Sprintf("%s: %s", results.LaunchName(l.Index), why)}
			if verdict == results.Fail {
				o.message = fmt.Sprintf("%s is stated, but %s", s.words, o.message)
			}
			return o
		}
		if text := s.had(l); !slices.Contains(used, text) {
			used = append(used, text)
		}
	}
	n := len(launches)
	o := outcome{
		verdict: results.Pass, message: fmt.Sprintf("%s %s %s", strings.Join(used, ", or "), s.held, launchesIn(n)),
	}
	if next := nextLook(a.Looks, n); !atLook(a.Looks, n) {
		o.verdict, o.undecided = results.InconclusiveVerdict, []string{c.Key}
		o.message += "; " + outlook(next, n)
	}
	o.message += retriedIn([]*results.Case{c})
	return o
}

func launchesIn(n int) string {
	if n == 1 {
		return "the one launch"
	}
	return fmt.Sprintf("all %d launches", n)
}

// holds says whether a launch is as stated: pass, fail, or an error. Of transports
// that are merely possible at least one was used, if none was for certain: the
// statement holds or does not whichever they were, or nobody knows.
func holds(t *assertion.Transport, l *results.Launch) (results.Verdict, string) {
	data := dataOf(l)
	if len(data) == 0 {
		return results.ErrorVerdict, "the document does not say what carried the data"
	}
	var named, others []results.Transport
	sure := map[bool]bool{} // whether one that is named, or is not, was used for certain
	for _, d := range data {
		if d.Name == "" {
			return results.ErrorVerdict, fmt.Sprintf("the fabric does not say what carried the data of %s",
				d.RanksText())
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
	// What is not named may have what is named beneath it.
	if i := slices.IndexFunc(others, func(d results.Transport) bool { return d.Opaque }); i >= 0 &&
		held == (t.Of == assertion.None) {
		return results.ErrorVerdict, fmt.Sprintf("%s carried the data and does not say what is beneath it", others[i])
	}
	switch {
	case held:
		return results.Pass, ""
	case refuted:
		return results.Fail, results.CarriedBy(wrong) + " carried data"
	}
	return results.ErrorVerdict, fmt.Sprintf("the fabric does not say which of %s carried the data",
		strings.Join(results.TransportTexts(data), " and "))
}

func dataOf(l *results.Launch) []results.Transport {
	return slices.DeleteFunc(slices.Clone(l.Transports), func(t results.Transport) bool { return !t.Data() })
}
