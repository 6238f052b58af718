package reporters

import (
	"fmt"
	"slices"
	"strings"

	evidence "github.com/weir-bench/weir/fabric/causes"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/results"
)

// mostLikely bounds the likely causes that a finding lists.
const mostLikely = 3

// likelyCause is a likely cause of a finding.
type likelyCause struct {
	seen, check, remedy string
	where               string // the finding that describes it; "": this one
}

func (l likelyCause) String() string {
	if l.where != "" {
		return "likely cause: as for " + l.where
	}
	return "likely cause: " + sentence("; ", l.seen, "check: "+l.check, "remedy: "+l.remedy)
}

// inBrief are likely causes in one line: what was seen of the first, and its remedy.
func inBrief(all []likelyCause) string {
	if len(all) == 0 {
		return ""
	}
	more := ""
	if n := len(all) - 1; n > 0 {
		more = fmt.Sprintf("%s in report.md", plural(n, "further cause"))
	}
	first := all[0]
	if first.where != "" {
		return sentence("; ", first.String(), more)
	}
	return sentence("; ", "likely cause: "+first.seen, "remedy: "+first.remedy, more)
}

// likelyCauses are causes of a failed assertion for which the session has evidence, of cases that move data
// over a fabric. A path that cannot carry the target was not slowed down by a busy host or a cold start.
func likelyCauses(doc *results.Document, f finding) (all []likelyCause) {
	if f.of == nil || f.assertion == nil || f.assertion.Verdict != results.Fail || !overFabric(f.of) {
		return nil
	}
	found := evidence.Of(doc, f.of)
	unreachable := func(r results.Reason) bool { return r.Kind == results.Unreachable }
	if slices.ContainsFunc(f.assertion.Reasons, unreachable) {
		found = slices.DeleteFunc(found, func(c evidence.Found) bool {
			return c.Name == "disturbed" || c.Name == "warm-up"
		})
	}
	for _, c := range found[:min(len(found), mostLikely)] {
		all = append(all, likelyCause{
			seen:  plain(fmt.Sprintf("%s (%s)", c.Title, strings.Join(c.Seen, "; "))),
			check: plain(c.Check), remedy: plain(c.Remedy),
		})
	}
	return all
}

// nameCausesOnce replaces the likely causes of a finding that an earlier one has by a reference to it.
func nameCausesOnce(list []finding) {
	first := map[likelyCause]string{} // where
	for i := range list {
		var all []likelyCause
		for _, l := range list[i].likely {
			if where, told := first[l]; told {
				l = likelyCause{where: where}
			} else {
				first[l] = list[i].where
			}
			all = ordered.Append(all, l)
		}
		list[i].likely = all
	}
}

// context is what is known beside the finding, and the likely causes.
func (f finding) context() []string {
	lines := slices.Clone(f.beside)
	for _, l := range f.likely {
		lines = append(lines, l.String())
	}
	return lines
}

func overFabric(c *results.Case) bool {
	for _, l := range c.Launches {
		if l.Fabric != "" && !l.Simulated {
			return true
		}
	}
	return false
}
