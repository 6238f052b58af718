package gate

import (
	"slices"
	"sort"

	"weir/results"
)

// families finds by how much each assertion of a family ("multiple: holm") must
// divide its error budget for failing. A family is what one text says of several
// cases of a run: assertions of equal run, text and name (the names of those over
// several cases hold the combination of the other axes and do not count).
//
// The probability that any of them fails although it holds stays below the level
// of one: Holm's step-down (Scandinavian Journal of Statistics 6, 1979) refutes
// the clearest first and gives what it did not spend to the rest. Only failing is
// divided. That a family passes is an intersection of its members' passing and
// needs no correction, and dividing it too would make every healthy sweep pay in
// launches.
//
// The levels are those of one look. As for a single assertion, the default
// confidence of 96 % pays for four looks.
func (eval *evaluator) families() map[*results.AssertionVerdict]int {
	type family struct{ document, run, text, name string }
	members := map[family][]matter{}
	for _, m := range statements(eval.doc) {
		c, a := m.c, m.a
		if a.Multiple != "holm" || a.Check() != nil {
			continue
		}
		k := family{text: a.Text}
		switch {
		case c != nil:
			k.run, k.name = c.Run, a.Name
		case len(a.Cases) > 0 && eval.cases[a.Cases[0]] != nil:
			k.document, k.run = "document", eval.cases[a.Cases[0]].Run
		}
		members[k] = append(members[k], m)
	}
	share := map[*results.AssertionVerdict]int{}
	for _, ms := range members {
		shares := make([]int, len(ms)) // the largest of those that fail, 0 of others, -1 of those not judged
		atOnce(ms, func(i int, m matter) {
			switch eval.judgeAs(m, 1).verdict {
			case results.SkippedVerdict, results.ErrorVerdict:
				shares[i] = -1
			case results.Fail:
				shares[i] = eval.largestShare(m, len(ms))
			}
		})
		judged := 0
		var limits []int
		for _, s := range shares {
			if s >= 0 {
				judged++
			}
			if s > 0 {
				limits = append(limits, s)
			}
		}
		left := stepDown(limits, judged)
		for _, m := range ms {
			share[m.a] = left
		}
	}
	return share
}

// largestShare is the most by which an assertion's budget can be divided so that
// it still fails; its interval only grows with it.
func (eval *evaluator) largestShare(m matter, most int) int {
	fails := func(share int) bool { return eval.judgeAs(m, share).verdict == results.Fail }
	if fails(most) { // as what fails clearly does, in whatever family
		return most
	}
	return sort.Search(most, func(i int) bool { return !fails(i + 1) })
}

// stepDown is what Holm's procedure divides the budget by when it stops, at m
// members of which some fail up to a share each: the clearest must fail at m, the
// next at m−1, and so on.
func stepDown(limits []int, m int) int {
	slices.Sort(limits)
	slices.Reverse(limits)
	left := m
	for _, most := range limits {
		if most < left {
			break
		}
		left--
	}
	return max(left, 1)
}
