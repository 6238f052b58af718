package results

import (
	"fmt"
	"slices"
)

// Usable reports whether the launch is usable: neither retried nor discarded.
func (l *Launch) Usable() bool { return !l.Retried && l.Discarded == "" }

// Discarded is the number of launches of the case that were discarded because they lacked their
// processors.
func (c *Case) Discarded() int { return c.count(func(l *Launch) bool { return l.Discarded != "" }) }

// Exhausted reports whether no more launches of a case are made because of discarded ones: at least three,
// at least as many as the first look has, and more than the usable ones. The disturbance is then
// permanent.
func (c *Case) Exhausted(firstLook int) bool {
	discarded := c.Discarded()
	return discarded >= max(leastDiscarded, firstLook) && discarded > c.count((*Launch).Usable)
}

const leastDiscarded = 3

// Undisturbed is the case for comparisons: launches tolerated for its own gates are discarded.
func (c *Case) Undisturbed() *Case {
	tolerated := func(l *Launch) bool { return l.Discarded == "" && l.Disturbance != nil && l.Disturbance.Tolerated }
	if !slices.ContainsFunc(c.Launches, tolerated) {
		return c
	}
	out := *c
	out.Launches = slices.Clone(c.Launches)
	for i, l := range out.Launches {
		if tolerated(l) {
			discarded := *l
			discarded.Discarded = "disturbed; it counts for the bounds of its own session only: " + l.Disturbance.Text
			out.Launches[i] = &discarded
		}
	}
	return &out
}

// Undisturbed is the document with its cases for comparisons.
func (d *Document) Undisturbed() *Document {
	out := *d
	out.Cases = make([]*Case, len(d.Cases))
	for i, c := range d.Cases {
		out.Cases[i] = c.Undisturbed()
	}
	return &out
}

// Unmeasured says why a case has no usable measurement: all launches were discarded, and neither an
// assertion nor a policy could use them; "" for other cases.
func (c *Case) Unmeasured() string {
	if c.Status != OK || c.Invalid != "" || c.Excused() || !c.AllDiscarded() {
		return ""
	}
	for _, a := range c.Assertions {
		if a.Observed != nil || a.Open {
			return ""
		}
	}
	return c.NoUsableLaunch()
}

// AllDiscarded reports whether the case has discarded launches and no usable one.
func (c *Case) AllDiscarded() bool { return c.Discarded() > 0 && c.count((*Launch).Usable) == 0 }

// NoUsableLaunch says how many launches of a case without a usable one were discarded, and why the last
// was.
func (c *Case) NoUsableLaunch() string {
	return fmt.Sprintf("no usable launch: %s (last: %s)", DiscardedText(c.Discarded(), len(c.Launches)),
		c.LastDiscardReason())
}

// DiscardedText says how many launches were discarded: "3 of 4 launches discarded".
func DiscardedText(discarded, all int) string {
	launches := "launches"
	if all == 1 {
		launches = "launch"
	}
	return fmt.Sprintf("%d of %d %s discarded", discarded, all, launches)
}

// LastDiscardReason is the reason of the last discarded launch, "" if there is none.
func (c *Case) LastDiscardReason() string {
	for _, l := range slices.Backward(c.Launches) {
		if l.Discarded != "" {
			return l.Discarded
		}
	}
	return ""
}

// StopKind is why no more launches were made, given the last discarded one.
func StopKind(l *Launch) ReasonKind {
	if l.Disturbance != nil && l.Disturbance.Cause == Throttled {
		return LimitLow
	}
	return HostBusy
}
