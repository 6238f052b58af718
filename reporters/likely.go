package reporters

import (
	"fmt"
	"strings"

	evidence "github.com/weir-bench/weir/fabric/causes"
	"github.com/weir-bench/weir/results"
)

// mostLikely bounds the likely causes that a finding lists.
const mostLikely = 3

// likelyCauses are lines about causes of a failed assertion for which the session has evidence, of cases that move data
// over a fabric.
func likelyCauses(doc *results.Document, f finding) (lines []string) {
	if f.of == nil || f.assertion == nil || f.assertion.Verdict != results.Fail || !overFabric(f.of) {
		return nil
	}
	found := evidence.Of(doc, f.of)
	for _, c := range found[:min(len(found), mostLikely)] {
		lines = append(lines, plain(fmt.Sprintf("likely cause: %s (%s); check: %s; remedy: %s", c.Title,
			strings.Join(c.Seen, "; "), c.Check, c.Remedy)))
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
