package agent

import (
	"cmp"

	"weir/executor/environ"
	"weir/fabric"
	"weir/results"
)

// headMax is how much of a log may come before the library has started.
const headMax = 64 << 10

// otherBuild is why a library has no use for a variable that others of it have.
const otherBuild = "this library does not have it: it was built without what reads it, or is of another version"

// ignoredIn finds the variables among those that the scenario and the shell set of which
// a log says that the library ignores them. Libraries ignore what they do not know, and a
// setting that was mistyped is measured as if it were not there.
func ignoredIn(log string, set map[string]bool) (in []results.Ignored) {
	for _, i := range fabric.Ignored(log) {
		if set[i.Name] {
			switch {
			case i.Reason != "":
			case environ.Known(i.Name):
				i.Suggestion, i.Reason = "", otherBuild
			default:
				i.Suggestion = cmp.Or(i.Suggestion, environ.Meant(i.Name)) // older versions make none
			}
			in = append(in, i)
		}
	}
	return in
}

// ignored are the variables of the launch that a rank of this node said it ignores.
func (l *launch) ignored() []results.Ignored {
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
