package reporters

import (
	"math"
	"strings"
)

// mostCompared limits how many reasons are compared pairwise.
const mostCompared = 64

// shortCause is the length below which containment of a text does not count as a common reason.
const shortCause = 16

// byReason groups findings of one standing by reason: the same assertion, or one cause of errors of
// session, checks and cases. The worst of each comes first.
func byReason(all []finding) [][]finding {
	var out [][]finding
	var causes []string
	known := map[string]int{}
	for _, f := range all {
		cause := f.message
		if f.assertion != nil {
			cause = "\x00" + f.name + "\x00" + f.place + "\x00" + f.assertion.Text
		} else {
			cause = strings.TrimPrefix(cause, "the case ended with an error: ")
		}
		i, ok := known[cause]
		if !ok && f.assertion == nil {
			i, ok = sameCause(causes, cause)
		}
		if !ok {
			i = len(out)
			out, causes = append(out, nil), append(causes, cause)
		}
		known[cause] = i
		out[i] = append(out[i], f)
	}
	for _, list := range out {
		worst := 0
		for i, f := range list {
			if violation(f) > violation(list[worst]) {
				worst = i
			}
		}
		list[0], list[worst] = list[worst], list[0]
	}
	return out
}

// sameCause finds a cause that contains this one, or is contained in it.
func sameCause(causes []string, cause string) (int, bool) {
	for i, c := range causes[:min(len(causes), mostCompared)] {
		if min(len(c), len(cause)) >= shortCause && (strings.Contains(c, cause) || strings.Contains(cause, c)) {
			return i, true
		}
	}
	return 0, false
}

// violation is the distance of a finding's estimate beyond its bound, as a share of the bound.
func violation(f finding) float64 {
	a := f.assertion
	if a == nil || a.Observed == nil {
		return 0
	}
	v, most := a.Observed.Value, 0.
	if b := a.Bounds.Lower; b != nil && *b != 0 && v < *b {
		most = max(most, math.Abs(v / *b - 1))
	}
	if b := a.Bounds.Upper; b != nil && *b != 0 && v > *b {
		most = max(most, math.Abs(v / *b - 1))
	}
	return most
}
