package agent

import (
	"cmp"

	"github.com/weir-bench/weir/executor/host/environ"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/results"
)

const (
	headMax         = 64 << 10  // bytes at the beginning of a log that are searched for ignored variables
	transportLogMax = 256 << 10 // bytes at each end of a log that are searched for transports
)

// otherBuild is why a library ignores a variable that other builds of it use.
const otherBuild = "this library does not have it: it was built without what reads it, or is of another version"

// ignoredIn are the variables of a set that the library ignores, according to a log. A mistyped variable would
// otherwise be measured as if it were not set.
func ignoredIn(log string, set map[string]bool) (in []results.Ignored) {
	for _, i := range fabric.Ignored(log) {
		if set[i.Name] {
			switch {
			case i.Reason != "":
			case environ.Known(i.Name):
				i.Suggestion, i.Reason = "", otherBuild
			default:
				i.Suggestion = cmp.Or(i.Suggestion, environ.Meant(i.Name)) // older libraries make none
			}
			in = append(in, i)
		}
	}
	return in
}

// ignored are the variables of the launch that libraries of this node's ranks ignore.
func (l *nodeLaunch) ignored() []results.Ignored {
	set := map[string]bool{}
	for _, variables := range []map[string]string{l.task.Env, l.task.Secrets, l.a.shell} {
		for name := range variables {
			set[name] = true
		}
	}
	if len(set) == 0 {
		return nil
	}
	var all []results.Ignored
	for _, m := range l.ranks {
		all = append(all, ignoredIn(m.log.head(), set)...)
	}
	return results.MergeIgnored(all)
}

// lowerTransports are the transports of the library below the fabric's own, from the ranks' logs, by rank.
func (l *nodeLaunch) lowerTransports() map[int][]fabric.LowerTransport {
	var all map[int][]fabric.LowerTransport
	for i, m := range l.ranks {
		if m.log == nil || i >= len(l.task.Ranks) {
			continue
		}
		found := fabric.LowerTransportsIn(l.task.launch.Fabric, m.log.headAndTail(transportLogMax))
		if len(found) == 0 {
			continue
		}
		if all == nil {
			all = map[int][]fabric.LowerTransport{}
		}
		all[l.task.Ranks[i]] = found
	}
	return all
}
