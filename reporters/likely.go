package reporters

import (
	"fmt"
	"slices"
	"strings"

	evidence "github.com/weir-bench/weir/fabric/causes"
	"github.com/weir-bench/weir/results"
)

// mostLikely bounds the likely causes that a finding lists.
const mostLikely = 3

// likelyCauses are lines about causes of a failed assertion for which the session has evidence, of cases that move data
// over a fabric. A path that cannot carry the target was not slowed down by a busy host or a cold start.
func likelyCauses(doc *results.Document, f finding) (lines []string) {
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
		lines = append(lines, plain(fmt.Sprintf(likelyCause+"%s (%s); check: %s; remedy: %s", c.Title,
			strings.Join(c.Seen, "; "), c.Check, c.Remedy)))
	}
	return lines
}

// likelyCause begins the line of a likely cause.
const likelyCause = "likely cause: "

// nameCausesOnce replaces the likely causes of a finding that an earlier one has by a reference to it.
func nameCausesOnce(list []finding) {
	first := map[string]string{} // where, by line
	for i := range list {
		var lines []string
		for _, line := range list[i].context {
			if strings.HasPrefix(line, likelyCause) {
				if where, told := first[line]; told {
					line = likelyCause + "as for " + where
				} else {
					first[line] = list[i].where
				}
			}
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
		list[i].context = lines
	}
}

func overFabric(c *results.Case) bool {
	for _, l := range c.Launches {
		if l.Fabric != "" && !l.Simulated {
			return true
		}
	}
	return false
}
