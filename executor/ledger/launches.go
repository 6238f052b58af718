package ledger

import (
	"fmt"
	"maps"
	"slices"

	"weir/planner"
	"weir/results"
)

// maxFailures is how many launches of a group may fail before the rest of it is
// given up. A first one may be one case's own; its other cases go on.
const maxFailures = 2

// Enter adds a launch to a case of the document. A case with a launch that
// failed, and is not made again, is an error and is not launched again, unless it is
// asked how many fail.
func (l *Ledger) Enter(key string, entry *results.Launch) {
	c := l.Case(key)
	c.Launches = append(c.Launches, entry)
	switch {
	case entry.Retried:
	case entry.Status == results.OK, l.find.lossy[key]:
		c.Status, c.Reason = results.OK, ""
	default:
		c.Status, c.Reason = results.Error, fmt.Sprintf("%s: %s", results.LaunchName(entry.Index), entry.Failure)
	}
}

// GiveUpAfterFailures ends the cases of a group whose launches keep failing.
func (l *Ledger) GiveUpAfterFailures(g *Group) {
	failed := l.failures(g)
	if len(failed) < maxFailures {
		return
	}
	last := slices.Max(slices.Collect(maps.Keys(failed)))
	due := slices.DeleteFunc(slices.Clone(l.Due(g)), func(c *planner.Case) bool { return l.find.lossy[c.Key] })
	l.DecideAll(due, results.Error, fmt.Sprintf("%d launches of its group failed; the last: %s", len(failed),
		failed[last]))
}

// GiveUp ends all cases of a group that still want launches.
func (l *Ledger) GiveUp(g *Group, reason string) { l.DecideAll(l.Due(g), results.Error, reason) }
