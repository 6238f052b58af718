package gate

import (
	"fmt"
	"slices"

	"weir/results"
)

// A void launch succeeded and did not have its processors (results.Launch.Void): what it measured
// is of the host's other work. It is no failure of what is gated, so it neither fails nor
// passes anything; the executor made another one instead, as long as its budget lasted.

// allVoid is the outcome of assertions about a case of which no launch counts. It is wanted
// again while the budget lasts, which the executor knows.
func allVoid(c *results.Case, why string) outcome {
	return outcome{
		verdict: results.InconclusiveVerdict, undecided: []string{c.Key},
		message: fmt.Sprintf("nothing was measured that counts: %s of %s void, the last because %s",
			isAre(c.Voids()), launches(len(c.Launches)), why),
	}
}

func isAre(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

// made are the launches of a case that are not void, whatever became of them.
func made(c *results.Case) []*results.Launch {
	return slices.DeleteFunc(slices.Clone(c.Launches), func(l *results.Launch) bool { return l.Void != "" })
}

// voided says how many launches behind a verdict did not count, and why the last of them.
func voided(sources []*source) string {
	n, all, why := 0, 0, ""
	for _, s := range sources {
		if s.c == nil || s.c.Voids() == 0 {
			continue
		}
		n, all, why = n+s.c.Voids(), all+len(s.c.Launches), s.c.WhyVoid()
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %s of %s void, the last because %s", isAre(n), launches(all), why)
}
