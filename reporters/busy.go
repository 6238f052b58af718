package reporters

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/results"
)

// starved says whether no more launches of a case were made because of those that were discarded, so that what is
// asserted of it stays open.
func starved(c *results.Case, a *results.AssertionVerdict) bool {
	first := 0
	if len(a.Looks) > 0 {
		first = a.Looks[0]
	}
	return c.Exhausted(first) || c.AllVoid()
}

// byBusyHost says whether a finding is open because launches of its cases were discarded.
func byBusyHost(doc *results.Document, f finding) bool {
	a := f.assertion
	if a == nil {
		return f.of != nil && untold(f.of) != ""
	}
	if !a.Open && a.Verdict != results.InconclusiveVerdict {
		return false
	}
	if f.of != nil {
		return starved(f.of, a)
	}
	return slices.ContainsFunc(a.Cases, func(key string) bool {
		c := doc.Case(key)
		return c != nil && starved(c, a)
	})
}

// openForWant says whether anything of a case is open for want of processors.
func openForWant(doc *results.Document, c *results.Case) bool {
	return untold(c) != "" || slices.ContainsFunc(c.Assertions, func(a *results.AssertionVerdict) bool {
		return byBusyHost(doc, finding{assertion: a, of: c})
	})
}

// joinBusy makes one finding of all that are open for want of processors: they have one cause, and one remedy.
func joinBusy(doc *results.Document, all []finding) []finding {
	var busy, rest []finding
	for _, f := range all {
		if byBusyHost(doc, f) {
			busy = append(busy, f)
		} else {
			rest = append(rest, f)
		}
	}
	if len(busy) == 0 {
		return all
	}
	one := finding{standing: busy[0].standing, where: busy[0].where, message: busyText(doc), busy: true}
	if len(busy) > 1 {
		one.where = ofWhat(busy)
	}
	return append([]finding{one}, rest...)
}

// joinAlike makes one finding of one assertion that is open in several cases: that which is farthest from its bound.
func joinAlike(all []finding) (out []finding) {
	for _, list := range byReason(all) {
		f := list[0]
		open := f.of != nil && f.assertion != nil &&
			(f.assertion.Open || f.assertion.Verdict == results.InconclusiveVerdict)
		if !open || len(list) == 1 {
			out = append(out, list...)
			continue
		}
		for _, other := range list[1:] {
			f.alike = append(f.alike, other.of)
		}
		f.where = fmt.Sprintf("%s and %d more", f.where, len(f.alike))
		out = append(out, f)
	}
	return out
}

// What discarded launches wanted.
const (
	hostTooBusy = "host too busy"
	limitTooLow = "CPU limit too low"
)

func wantOf(l *results.Launch) string {
	if l.Disturbance != nil && l.Disturbance.Cause == results.Throttled {
		return limitTooLow
	}
	return hostTooBusy
}

// busyShort says of a case how many of its launches were discarded.
func busyShort(c *results.Case) string {
	what := hostTooBusy
	for _, l := range c.Launches {
		if l.Void != "" {
			what = wantOf(l)
		}
	}
	return fmt.Sprintf("%s: %d of %s discarded", what, c.Voids(), launchesWere(len(c.Launches)))
}

// busyText says what was discarded in a session, why, and what to do about it.
func busyText(doc *results.Document) string {
	void, made := 0, 0
	var last *results.Launch
	for _, c := range doc.Cases {
		void, made = void+c.Voids(), made+len(c.Launches)
		for _, l := range c.Launches {
			if l.Void != "" {
				last = l
			}
		}
	}
	what, remedy := wantOf(last), "wait until "+idleText(last)
	if what == limitTooLow {
		remedy = "give the container or job more processors"
	}
	return fmt.Sprintf("%s: %d of %s discarded, the last because %s; %s, or count them with --disturbed keep",
		what, void, launchesWere(made), plain(last.Void), remedy)
}

func launchesWere(n int) string {
	if n == 1 {
		return "1 launch was"
	}
	return fmt.Sprintf("%d launches were", n)
}

// discarded says how many launches do not count, where no finding does.
func discarded(doc *results.Document) []string {
	void, made := 0, 0
	why := ""
	for _, c := range doc.Cases {
		if c.Voids() == 0 {
			continue
		}
		if openForWant(doc, c) {
			return nil
		}
		void, made, why = void+c.Voids(), made+len(c.Launches), c.WhyVoid()
	}
	if void == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %s discarded and made again, the last because %s", void,
		launchesWere(made), plain(why))}
}

// disturbedKept says how many launches were disturbed and count, and what the worst of them lost.
func disturbedKept(doc *results.Document) []string {
	kept, made := 0, 0
	var worst *results.Disturbance
	for _, c := range doc.Cases {
		made += len(c.Launches)
		for _, l := range c.Launches {
			if d := l.Disturbance; d != nil && l.Counts() && l.Status == results.OK {
				kept++
				if worst == nil || d.Share > worst.Share {
					worst = d
				}
			}
		}
	}
	if worst == nil {
		return nil
	}
	return []string{fmt.Sprintf("%d of %s disturbed and count, the worst of them: %s", kept,
		launchesWere(made), plain(worst.Text))}
}

// idleText names the nodes of a launch, and the load below which its ranks have a processor each.
func idleText(l *results.Launch) string {
	nodes := slices.Compact(slices.Sorted(slices.Values(l.Nodes)))
	who := plain(strings.Join(nodes, ", ")) + " is idle"
	switch len(nodes) {
	case 0:
		who = "the host is idle"
	case 1:
	default:
		who = plain(strings.Join(nodes, ", ")) + " are idle"
	}
	if l.Processors == nil || len(l.Processors.Nodes) == 0 {
		return who
	}
	spare := math.MaxInt
	for _, n := range l.Processors.Nodes {
		spare = min(spare, max(n.CPUs-n.Threads, 0))
	}
	return fmt.Sprintf("%s (load below %.1f)", who, float64(spare)+0.5)
}
