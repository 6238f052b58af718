package gate

import (
	"slices"
	"sort"

	"github.com/weir-bench/weir/results"
)

// families returns the divisor of the error budget of failing for each assertion of a family ("multiple:
// holm"). A family is one assertion text over several cases of a run: equal run, text and name. (Names of
// assertions over several cases contain the other axes and are ignored.)
//
// The probability that any member fails although it holds stays below that of a single assertion: Holm's
// step-down procedure (Scandinavian Journal of Statistics 6, 1979) rejects the clearest first and passes
// the unspent budget to the rest. Only the budget of failing is divided: passing of a family is an
// intersection and needs no correction.
//
// The levels are those of one interim analysis. As for a single assertion, the default confidence of 96 %
// allows for four.
func (eval *evaluator) families() map[*results.AssertionVerdict]int {
	type family struct{ document, run, text, name string }
	members := map[family][]item{}
	for _, m := range itemsOf(eval.doc) {
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
		shares := make([]int, len(ms)) // largest divisor of those that fail, 0 of others, -1 of those not judged
		inParallel(ms, func(i int, m item) {
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

// largestShare is the largest divisor of an assertion's error budget with which it still fails; its
// interval widens with the divisor.
func (eval *evaluator) largestShare(m item, most int) int {
	fails := func(share int) bool { return eval.judgeAs(m, share).verdict == results.Fail }
	if fails(most) { // clear failures fail in any family
		return most
	}
	return sort.Search(most, func(i int) bool { return !fails(i + 1) })
}

// stepDown returns the final divisor of Holm's procedure for m members, given the largest divisor of each
// failing member: the clearest must fail at m, the next at m−1, and so on.
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
