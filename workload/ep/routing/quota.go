package routing

import (
	"math/rand/v2"
	"slices"
)

// quotas divides total selections among experts in proportion to their shares by largest remainders, at most most each.
// The sum is total if experts times most suffices.
func quotas(share []float64, total, most int) []int {
	n := len(share)
	quota := make([]int, n)
	exact := make([]float64, n)
	full := make([]bool, n)
	for capped := true; capped; { // the excess above most is divided again among the others
		capped = false
		sum, left := 0., float64(total)
		for i := range share {
			if full[i] {
				left -= float64(most)
			} else {
				sum += share[i]
			}
		}
		for i := range share {
			if full[i] || sum == 0 {
				continue
			}
			exact[i] = left * share[i] / sum
			if exact[i] > float64(most) {
				full[i], exact[i], capped = true, float64(most), true
			}
		}
	}
	order, left := make([]int, n), total
	for i := range exact {
		quota[i] = int(exact[i])
		left -= quota[i]
		order[i] = i
	}
	rest := func(i int) float64 { return exact[i] - float64(quota[i]) }
	slices.SortStableFunc(order, func(a, b int) int {
		switch d := rest(b) - rest(a); {
		case d > 0:
			return 1
		case d < 0:
			return -1
		}
		return 0
	})
	for left > 0 {
		before := left
		for _, i := range order {
			if left > 0 && quota[i] < most {
				quota[i]++
				left--
			}
		}
		if left == before {
			break // all are at most
		}
	}
	return quota
}

// assign gives each token top_k different experts so that each expert is selected exactly as often as its quota. Tokens
// choose in a random order, an expert with a probability in proportion to its remaining quota. An expert with as many
// selections left as there are tokens must be chosen by all of them.
func (t *Table) assign(s Settings, quota []int) error {
	rng := s.random(forRoutes, 1)
	type place struct{ rank, token int }
	var order []place
	for rank, n := range t.Tokens {
		for token := range n {
			order = append(order, place{rank, token})
		}
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	left := newUrn(quota)
	forced := make([]int32, 0, t.TopK)
	for i, p := range order {
		to := t.Experts[p.rank][p.token*t.TopK : (p.token+1)*t.TopK]
		forced = left.atLeast(len(order)-i, forced[:0])
		for k := range to {
			if k < len(forced) {
				to[k] = forced[k]
			} else {
				to[k] = left.draw(rng)
			}
			left.setAside(to[k])
		}
		rng.Shuffle(len(to), func(a, b int) { to[a], to[b] = to[b], to[a] })
		left.putBack(to)
	}
	return nil
}

// urn holds a number of balls of each expert.
type urn struct {
	counts []int
	chosen []int // experts that the current token has chosen
	sums   []int // a Fenwick tree of counts (Fenwick, Software 24(3), 1994)
	top    int
}

func newUrn(counts []int) *urn {
	u := &urn{counts: slices.Clone(counts), chosen: make([]int, len(counts)), sums: make([]int, len(counts)+1), top: 1}
	for u.top*2 <= len(counts) {
		u.top *= 2
	}
	for i, n := range counts {
		u.add(i, n)
	}
	return u
}

func (u *urn) add(i, n int) {
	for at := i + 1; at < len(u.sums); at += at & -at {
		u.sums[at] += n
	}
}

func (u *urn) total() (sum int) {
	for at := len(u.counts); at > 0; at -= at & -at {
		sum += u.sums[at]
	}
	return sum
}

// draw chooses an expert with a probability in proportion to its balls.
func (u *urn) draw(rng *rand.Rand) int32 {
	pick, at := rng.IntN(u.total()), 0
	for step := u.top; step > 0; step /= 2 {
		if next := at + step; next < len(u.sums) && u.sums[next] <= pick {
			at, pick = next, pick-u.sums[next]
		}
	}
	return int32(at)
}

// setAside excludes an expert from draws until putBack.
func (u *urn) setAside(expert int32) {
	u.chosen[expert] = u.counts[expert]
	u.add(int(expert), -u.counts[expert])
	u.counts[expert] = 0
}

// putBack returns the balls of chosen experts, except one of each.
func (u *urn) putBack(experts []int32) {
	for _, e := range experts {
		u.counts[e] = u.chosen[e] - 1
		u.add(int(e), u.counts[e])
	}
}

// atLeast returns the experts with at least n balls.
func (u *urn) atLeast(n int, list []int32) []int32 {
	for i, c := range u.counts {
		if c >= n {
			list = append(list, int32(i))
		}
	}
	return list
}
