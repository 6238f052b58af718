package results

import (
	"fmt"
	"slices"
)

// Counts says whether the launch counts: it was neither made again because it failed, nor void.
func (l *Launch) Counts() bool { return !l.Retried && l.Void == "" }

// Voids are the launches of the case that did not have their processors.
func (c *Case) Voids() int { return c.count(func(l *Launch) bool { return l.Void != "" }) }

// Exhausted says whether no more launches of a case are made because of those that are void: as many are as its first
// look has, at least three, and more than count. What disturbs its hosts stays then.
func (c *Case) Exhausted(firstLook int) bool {
	voids := c.Voids()
	return voids >= max(leastVoids, firstLook) && voids > c.count((*Launch).Counts)
}

const leastVoids = 3

// Undisturbed is the case as others are compared with it: launches that count for its own gates only are void.
func (c *Case) Undisturbed() *Case {
	borne := func(l *Launch) bool { return l.Void == "" && l.Disturbance != nil && l.Disturbance.Borne }
	if !slices.ContainsFunc(c.Launches, borne) {
		return c
	}
	out := *c
	out.Launches = slices.Clone(c.Launches)
	for i, l := range out.Launches {
		if borne(l) {
			void := *l
			void.Void = l.Disturbance.Text
			out.Launches[i] = &void
		}
	}
	return &out
}

// Undisturbed is the document with its cases as others are compared with them.
func (d *Document) Undisturbed() *Document {
	out := *d
	out.Cases = make([]*Case, len(d.Cases))
	for i, c := range d.Cases {
		out.Cases[i] = c.Undisturbed()
	}
	return &out
}

// Unmeasured says why nothing that a case measured counts, where all its launches are void and no
// assertion about it could be judged by them all the same, nor says what that counts as; "" of other cases.
func (c *Case) Unmeasured() string {
	if c.Status != OK || c.Invalid != "" || c.Excused() || !c.AllVoid() {
		return ""
	}
	for _, a := range c.Assertions {
		if a.Observed != nil || a.Open {
			return ""
		}
	}
	return c.OnlyVoid()
}

// AllVoid says whether the case has launches that are void, and none that counts.
func (c *Case) AllVoid() bool { return c.Voids() > 0 && c.count((*Launch).Counts) == 0 }

// OnlyVoid says of a case without a launch that counts how many are void, and why the last of them.
func (c *Case) OnlyVoid() string {
	return fmt.Sprintf("nothing was measured that counts: %s, the last because %s",
		VoidText(c.Voids(), len(c.Launches)), c.WhyVoid())
}

// VoidText says how many launches of all are void: "3 of 4 launches are void".
func VoidText(voids, all int) string {
	launches, are := "launches", "are"
	if all == 1 {
		launches = "launch"
	}
	if voids == 1 {
		are = "is"
	}
	return fmt.Sprintf("%d of %d %s %s void", voids, all, launches, are)
}

// WhyVoid is the reason of the last launch of the case that is void, "" if none is.
func (c *Case) WhyVoid() string {
	for _, l := range slices.Backward(c.Launches) {
		if l.Void != "" {
			return l.Void
		}
	}
	return ""
}
