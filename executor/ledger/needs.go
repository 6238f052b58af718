package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// notRunBecause is the reason of a case that does not run because of a failure. The gate distinguishes it from a case
// that was skipped on purpose.
func notRunBecause(why string) string { return notRun + ": " + why }

// LoadReason is why cases cannot run without their background load: a failed case of it, otherwise a skipped one.
func (l *Ledger) LoadReason(load *Group) string {
	c := l.Case(load.Cases[0])
	for _, key := range load.Cases {
		if other := l.Case(key); failedOrNotRun(other) {
			c = other
			break
		}
	}
	return inheritedReason(c, fmt.Sprintf("its background load %s does not run: %s", load.ID, cause(c)))
}

// inheritedReason is a reason due to another case. It counts as skipped on purpose only if the other case was.
func inheritedReason(c *results.Case, why string) string {
	if failedOrNotRun(c) {
		return notRunBecause(why)
	}
	return why
}

func failedOrNotRun(c *results.Case) bool { return c.Status == results.Error || c.NotReached() }

// cause is a case's reason without the prefix of notRunBecause.
func cause(c *results.Case) string { return strings.TrimPrefix(c.Reason, notRunBecause("")) }

// unmetNeed is why the needs of a case do not let it run; "": they do. It names the root of a chain of needs, and
// prefers failed cases to skipped ones.
func (l *Ledger) unmetNeed(c *planner.Case) string {
	first, others := "", 0
	for _, key := range c.Needs {
		why := ""
		switch c.NeedsOn[key] {
		case "always":
		case "failed":
			why = l.notFailed(key)
		default:
			why = l.unsuccessful(key)
		}
		if why == "" {
			continue
		}
		switch {
		case first == "":
			first = why
			continue
		case strings.HasPrefix(why, notRunBecause("")) && !strings.HasPrefix(first, notRunBecause("")):
			first = why
		}
		others++
	}
	if first == "" {
		return ""
	}
	if others > 0 {
		return fmt.Sprintf("%s (and %d more)", first, others)
	}
	return first
}

// unsuccessful is why a needed case did not succeed; "": it did, or the plan excludes it.
func (l *Ledger) unsuccessful(key string) string {
	c := l.Case(key)
	switch {
	case c == nil:
		return notRunBecause(fmt.Sprintf("needs %s, which is not in the plan", key))
	case c.Status == results.Excluded:
		return ""
	case c.Status == results.Error:
		return notRunBecause(fmt.Sprintf("needs %s, which failed: %s", key, c.Reason))
	case c.Status == results.Skipped:
		if p := l.planned(key); p != nil {
			if why := l.unmetNeed(p); why != "" {
				return why // the root of the chain
			}
		}
		return inheritedReason(c, fmt.Sprintf("needs %s, which was skipped: %s", key, cause(c)))
	}
	if c.Excused() { // it may fail, but did
		return notRunBecause(fmt.Sprintf("needs %s, which failed: %s", key, c.MayFail.Message))
	}
	if why := cmp.Or(c.Invalid, c.Unmeasured()); why != "" {
		return notRunBecause(fmt.Sprintf("needs %s, which measured nothing that can be used: %s", key, why))
	}
	for _, a := range l.Doc.AllAssertions() {
		if failedGate(a) && (slices.Contains(c.Assertions, a) || slices.Contains(a.Cases, key)) {
			return notRunBecause(fmt.Sprintf("needs %s, where %q does not hold", key, a.Name))
		}
	}
	return ""
}

// notFailed is why a needed case did not fail; "": it did, or a gate with it failed.
func (l *Ledger) notFailed(key string) string {
	c := l.Case(key)
	switch {
	case c == nil:
		return notRunBecause(fmt.Sprintf("needs %s to fail, which is not in the plan", key))
	case c.Status == results.Skipped || c.Status == results.Excluded:
		return inheritedReason(c, fmt.Sprintf("needs %s to fail, which did not run: %s", key, cause(c)))
	case c.Unmeasured() != "":
		return notRunBecause(fmt.Sprintf("needs %s to fail, which is unknown: %s", key, c.Unmeasured()))
	case l.unsuccessful(key) == "":
		return fmt.Sprintf("needs %s to fail, and it did not", key)
	}
	return ""
}

// failedGate reports whether an assertion fails the session.
func failedGate(a *results.AssertionVerdict) bool {
	switch results.Verdict(a.Standing()) {
	case results.Fail, results.XPass, results.ErrorVerdict:
		return true
	}
	return false
}

// UnmeasuredError is the error of a metric that has no usable value.
type UnmeasuredError struct {
	of  *results.Case
	why string
}

func (e *UnmeasuredError) Error() string { return e.why }

// MedianOf is the median of a metric over the launches of a case that count.
func (l *Ledger) MedianOf(of *planner.Case, metric string) (float64, error) {
	c := l.Case(of.Key).Undisturbed()
	if why := unusableReason(c); why != "" {
		return 0, &UnmeasuredError{c, fmt.Sprintf("%s of %s cannot be used: %s", metric, of.Key, why)}
	}
	v, ok := median(c, metric)
	if !ok {
		return 0, &UnmeasuredError{c, fmt.Sprintf("no usable launch of %s has measured %s", of.Key, metric)}
	}
	return v, nil
}

// unusableReason is why other cases cannot use the results of a case; "": they can.
func unusableReason(c *results.Case) string {
	switch {
	case c.Status == results.Error:
		return "it failed: " + c.Reason
	case c.Status != results.OK:
		return "it did not run: " + cause(c)
	case c.Invalid != "":
		return c.Invalid
	case c.Excused():
		return c.MayFail.Message
	case c.AllDiscarded():
		return c.NoUsableLaunch()
	}
	return ""
}

// missingValue is why a value of another run that a case uses is missing; "": none is.
func (l *Ledger) missingValue(c *planner.Case) string {
	for _, name := range c.RunNames() {
		_, err := l.Plan.Value(c, name, l.MedianOf)
		if e, ok := errors.AsType[*UnmeasuredError](err); ok {
			why := "its value " + err.Error()
			if e.of.Status == results.OK {
				return notRunBecause(why)
			}
			return inheritedReason(e.of, why)
		}
	}
	return ""
}

// median is the median of a metric over the successful launches of a case.
func median(c *results.Case, metric string) (float64, bool) {
	var all []float64
	for _, l := range c.Succeeded() {
		if v, ok := l.Metrics.Get(metric); ok {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	half := len(all) / 2
	if len(all)%2 == 1 {
		return all[half], true
	}
	return (all[half-1] + all[half]) / 2, true
}
