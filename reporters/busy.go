package reporters

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// causedByBusyHost reports whether a finding is undecided because launches of its cases were discarded.
func causedByBusyHost(f finding) bool {
	a := f.assertion
	if a == nil {
		return f.of != nil && discardedReason(f.of) != ""
	}
	return open(a) && slices.ContainsFunc(a.Reasons, func(r results.Reason) bool {
		return r.Kind == results.HostBusy || r.Kind == results.LimitLow
	})
}

// open reports whether launches left an assertion inconclusive, also if another verdict replaces that.
func open(a *results.AssertionVerdict) bool {
	return a.Open || a.Verdict == results.InconclusiveVerdict
}

// openForBusyHost reports whether an assertion of a case is undecided because launches were discarded.
func openForBusyHost(c *results.Case) bool {
	return discardedReason(c) != "" || slices.ContainsFunc(c.Assertions, func(a *results.AssertionVerdict) bool {
		return causedByBusyHost(finding{assertion: a, of: c})
	})
}

// joinBusy merges all findings that are undecided because of a busy host: they share cause and remedy.
func joinBusy(doc *results.Document, all []finding) []finding {
	var busy, rest []finding
	for _, f := range all {
		if causedByBusyHost(f) {
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
		one.where = ofWhat(busy) + namedAssertions(busy)
	}
	return append([]finding{one}, rest...)
}

// mostNamed is how many assertions a joined finding names.
const mostNamed = 3

// namedAssertions names the assertions of findings, in parentheses; "" if there are none.
func namedAssertions(fs []finding) string {
	var names []string
	for _, f := range fs {
		if f.assertion != nil && !slices.Contains(names, plain(f.assertion.Name)) {
			names = append(names, plain(f.assertion.Name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - mostNamed; n > 0 {
		names, more = names[:mostNamed], fmt.Sprintf(" and %d more", n)
	}
	return " (" + strings.Join(names, ", ") + more + ")"
}

// joinSameAssertion merges findings of one assertion that is undecided in several cases into the one
// farthest from its bound.
func joinSameAssertion(all []finding) (out []finding) {
	for _, list := range byReason(all) {
		f := list[0]
		ofNone := slices.ContainsFunc(list, func(f finding) bool { return f.of == nil })
		if len(list) == 1 || ofNone || f.assertion == nil || !open(f.assertion) {
			out = append(out, list...)
			continue
		}
		for _, other := range list[1:] {
			f.sameCases = append(f.sameCases, other.of)
		}
		f.where = fmt.Sprintf("%s and %d more", f.where, len(f.sameCases))
		out = append(out, f)
	}
	return out
}

// Texts for what discarded launches lacked.
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

// busyShort says how many launches of a case were discarded.
func busyShort(c *results.Case) string {
	what := hostTooBusy
	for _, l := range c.Launches {
		if l.Discarded != "" {
			what = wantOf(l)
		}
	}
	return fmt.Sprintf("%s: %d of %s discarded", what, c.Discarded(), launches(len(c.Launches)))
}

// NothingUsable is in the reports of a session that discarded all launches.
const NothingUsable = "no case has a usable launch"

// busyText says what was discarded in a session, why, and the remedy.
func busyText(doc *results.Document) string {
	discarded, made := 0, 0
	var last *results.Launch
	for _, c := range doc.Cases {
		discarded, made = discarded+c.Discarded(), made+len(c.Launches)
		for _, l := range c.Launches {
			if l.Discarded != "" {
				last = l
			}
		}
	}
	what, remedy := wantOf(last), "wait until "+idleText(last)
	if what == limitTooLow {
		remedy = "raise the CPU limit of the container or job"
	}
	nothing := ""
	if discarded == made {
		nothing = ", " + NothingUsable
	}
	return fmt.Sprintf("%s: %d of %s discarded%s (last: %s); %s, or count disturbed launches with --disturbed keep",
		what, discarded, measurements(doc, made), nothing, plain(last.Discarded), remedy)
}

// discarded says how many launches do not count, if no finding does.
func discarded(doc *results.Document) []string {
	n, made := 0, 0
	why := ""
	for _, c := range doc.Cases {
		made += len(c.Launches)
		if c.Discarded() == 0 {
			continue
		}
		if openForBusyHost(c) {
			return nil
		}
		n, why = n+c.Discarded(), c.LastDiscardReason()
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %s discarded (last: %s)", n,
		measurements(doc, made), plain(why))}
}

// measurements counts launches of all cases. Cases of one run share launches, so those of several are measurements.
func measurements(doc *results.Document, n int) string {
	launched := slices.DeleteFunc(slices.Clone(doc.Cases), func(c *results.Case) bool { return len(c.Launches) == 0 })
	if len(launched) < 2 {
		return launches(n)
	}
	return plural(n, "measurement") + " of cases"
}

// disturbedKept says how many disturbed launches count, of those that were not discarded, and the worst disturbance.
func disturbedKept(doc *results.Document) []string {
	kept, made, discarded := 0, 0, 0
	var worst *results.Disturbance
	for _, c := range doc.Cases {
		made, discarded = made+len(c.Launches), discarded+c.Discarded()
		for _, l := range c.Launches {
			if d := l.Disturbance; d != nil && l.Usable() && l.Status == results.OK {
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
	of := measurements(doc, made)
	if discarded > 0 {
		of = fmt.Sprintf("the %s that were not discarded:", measurements(doc, made-discarded))
	}
	return []string{fmt.Sprintf("%d of %s disturbed but counted (worst: %s)", kept, of, plain(worst.Text))}
}

// idleText names the nodes of a launch, and the load below which each rank has a processor.
func idleText(l *results.Launch) string {
	nodes := slices.Compact(slices.Sorted(slices.Values(l.Nodes)))
	idle := plain(strings.Join(nodes, ", ")) + " is idle"
	switch len(nodes) {
	case 0:
		idle = "the host is idle"
	case 1:
	default:
		idle = plain(strings.Join(nodes, ", ")) + " are idle"
	}
	if l.Processors == nil || len(l.Processors.Nodes) == 0 {
		return idle
	}
	spare := math.MaxInt
	for _, n := range l.Processors.Nodes {
		spare = min(spare, max(n.CPUs-n.Threads, 0))
	}
	return fmt.Sprintf("%s (load below %.1f)", idle, float64(spare)+0.5)
}

func launches(n int) string {
	if n == 1 {
		return "1 launch"
	}
	return fmt.Sprintf("%d launches", n)
}
