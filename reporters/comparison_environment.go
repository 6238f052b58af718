package reporters

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/results"
)

const partlySimulated = "SIMULATED: numbers on at least one side come from a declared model"

func comparedText(side results.Compared) string {
	of := sentence(" ", plain(side.File), dash(side.File))
	if side.Part != "" {
		of = plain(side.Part) + " of " + of
	}
	started := ""
	if !side.Started.IsZero() {
		started = side.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return sentence(", ", of, "session "+plain(side.Session), started, "weir "+plain(side.Weir))
}

func environmentStanding(c *results.Comparison) string {
	if c.SameEnvironment == nil || !*c.SameEnvironment {
		return "warn"
	}
	return ""
}

func environmentText(c *results.Comparison) string {
	what := "no other recorded difference"
	if len(c.Differences) > 0 {
		what = "what differs:"
	}
	switch {
	case !c.CrossSession:
		return "one session: the environment is the same; " + what
	case c.SameEnvironment == nil:
		return "nothing shows that the environments are the same: they count as different, and may be the cause of a change; " +
			what
	case !*c.SameEnvironment:
		return "the environments differ, and may be the cause of a change; " +
			what
	}
	if len(c.Differences) == 0 {
		return "no recorded difference in environment and settings"
	}
	return "the environments are the same; " + what
}

// mostShown limits the items of a kind in a line or list.
const mostShown = 20

// differenceText formats a difference: "cpu.governor: powersave -> performance (n1)".
func differenceText(d results.Difference) string {
	text := func(s string) string {
		if s == "" {
			return "(none)"
		}
		return plain(s)
	}
	line := plain(d.What) + ": " + text(d.Base) + " -> " + text(d.New)
	switch n := len(d.Of); {
	case n > 3:
		line += fmt.Sprintf(" (%s and %d more)", plain(d.Of[0]), n-1)
	case n > 0:
		line += " (" + plain(strings.Join(d.Of, ", ")) + ")"
	}
	return clip(line, " …")
}

func differenceTexts(list []results.Difference) []string {
	var out []string
	for _, d := range list {
		out = append(out, differenceText(d))
	}
	return out
}

func firstOf(lines []string) []string {
	if len(lines) <= mostShown {
		return lines
	}
	return append(lines[:mostShown:mostShown], fmt.Sprintf("and %d more; --format json has all", len(lines)-mostShown))
}
