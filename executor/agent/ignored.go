package agent

import (
	"regexp"
	"strings"

	"weir/results"
)

// Libraries ignore what they do not know, and a setting that was mistyped is
// measured as if it were not there. UCX says at its start which of the variables
// with its prefix it has no use for, with what it takes for the nearest:
//
//	unused env variables: UCX_FOO,UCX_TLSS (set UCX_WARN…)               1.13
//	unused environment variables: UCX_FOO; UCX_TLSS (maybe: UCX_TLS?)    since 1.14
//
// Only the library itself knows: which names it has depends on its version, on the
// modules that it could load, and on prefixes that several of them share.
var (
	unusedLine = regexp.MustCompile(`unused env(?:ironment)? variables?: (.*)`)
	unusedName = regexp.MustCompile(`(UCX_[A-Za-z0-9_]+)(?: \(maybe: (UCX_[A-Za-z0-9_]+)\?\))?`)
)

// headMax is how much of a log may come before the library has started.
const headMax = 64 << 10

// ignoredIn finds the variables among those that the scenario and the shell set of which
// a log says that the library ignores them.
func ignoredIn(log string, set map[string]bool) []results.Ignored {
	var out []results.Ignored
	for line := range strings.Lines(log) {
		found := unusedLine.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			continue
		}
		list, _, _ := strings.Cut(found[1], " (set ")
		for _, name := range unusedName.FindAllStringSubmatch(list, -1) {
			if set[name[1]] {
				out = append(out, results.Ignored{Name: name[1], Suggestion: name[2]})
			}
		}
	}
	return results.MergeIgnored(out)
}

// ignored are the variables of the launch that a rank of this node said it ignores.
func (l *launch) ignored() []results.Ignored {
	set := map[string]bool{}
	for _, variables := range []map[string]string{l.task.Env, l.task.Secrets, l.a.shell} {
		for name := range variables {
			if strings.HasPrefix(name, "UCX_") {
				set[name] = true
			}
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
