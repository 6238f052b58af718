package gate

import (
	"slices"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
)

// reasonError is an error with a reason.
type reasonError struct{ results.Reason }

func (r reasonError) Error() string { return wording.Sentence(r.Reason) }

func refuse(kind results.ReasonKind, values ...results.Value) error {
	return reasonError{results.Because(kind, values...)}
}

// reasonOf extracts the reason of an error.
func reasonOf(err error) results.Reason {
	if r, ok := err.(reasonError); ok {
		return r.Reason
	}
	return results.Because(results.NotEvaluated, results.Text("why", err.Error()))
}

// inLaunch adds a launch to an error.
func inLaunch(err error, index int) error { return reasonError{reasonOf(err).At(index)} }

// addReasons appends reasons to an outcome.
func (o *outcome) addReasons(all ...results.Reason) {
	for _, r := range all {
		if !r.None() {
			o.reasons = append(o.reasons, r)
		}
	}
}

// prependEstimate puts the estimate before the reasons. It is deferred because most outcomes are never
// displayed.
func (o *outcome) prependEstimate() {
	if o.estimate != nil {
		all := append(o.estimate(), o.reasons...)
		o.reasons, o.estimate = slices.DeleteFunc(all, results.Reason.None), nil
	}
}

// atSource sets the place of an outcome's reasons to another case.
func (o outcome) atSource(k sourceKey) outcome {
	o.prependEstimate()
	o.reasons = slices.Clone(o.reasons)
	if len(o.reasons) > 0 {
		o.reasons[0].Place.Case = k.key
	}
	return o
}

// prependReason puts a reason before the others.
func (o *outcome) prependReason(r results.Reason) {
	o.prependEstimate()
	o.reasons = append([]results.Reason{r}, o.reasons...)
}

func why(text string) results.Value { return results.Text("why", text) }

func invalidAssertion(text string) outcome {
	return failed(results.Because(results.InvalidAssertion, why(text)))
}

// launched is the number of launches as a value.
func launched(n int) results.Value { return results.Count("launches", n, "launch") }

// launchedOf is a sum of the launches of some cases as a value. Cases may share launches, so those of several are
// counted as measurements.
func launchedOf(cases, n int) results.Value {
	if cases > 1 {
		return results.Count("launches", n, "measurement")
	}
	return launched(n)
}
