package ledger

import (
	"errors"
	"fmt"
	"slices"

	"weir/planner"
	"weir/results"
)

// UnmeasuredError says that a metric of a case is no value to go on with.
type UnmeasuredError struct {
	of  *results.Case
	why string
}

func (e *UnmeasuredError) Error() string { return e.why }

// MedianOf is that of a metric over the launches of a case that count.
func (l *Ledger) MedianOf(of *planner.Case, metric string) (float64, error) {
	c := l.Case(of.Key).Undisturbed()
	if why := unusable(c); why != "" {
		return 0, &UnmeasuredError{c, fmt.Sprintf("%s of %s cannot be used: %s", metric, of.Key, why)}
	}
	v, ok := median(c, metric)
	if !ok {
		return 0, &UnmeasuredError{c, fmt.Sprintf("no launch of %s that counts has measured %s", of.Key, metric)}
	}
	return v, nil
}

// unusable says why nothing that a case measured is to be used by others, "" if it is.
func unusable(c *results.Case) string {
	switch {
	case c.Status == results.Error:
		return "it failed: " + c.Reason
	case c.Status != results.OK:
		return "it did not run: " + cause(c)
	case c.Invalid != "":
		return c.Invalid
	case c.Excused():
		return c.MayFail.Message
	case c.AllVoid():
		return c.OnlyVoid()
	}
	return ""
}

// valueless says why a case cannot run because of the values of runs that it uses, "" if it can.
func (l *Ledger) valueless(c *planner.Case) string {
	for _, name := range c.RunNames() {
		_, err := l.Plan.Value(c, name, l.MedianOf)
		if e, ok := errors.AsType[*UnmeasuredError](err); ok {
			why := "its value " + err.Error()
			if e.of.Status == results.OK {
				return unrun(why)
			}
			return becauseOf(e.of, why)
		}
	}
	return ""
}

// median is that of a metric over the launches of a case that succeeded and count.
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
