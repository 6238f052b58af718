package matrix

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Each generator gives the same matrix for the same arguments on every machine.
// bytes is the size of a cell unless it says otherwise; nobody sends to itself.

// Uniform has every rank send to every other.
func Uniform(ranks int, bytes int64) (*Matrix, error) { return BlockDiagonal(ranks, ranks, bytes) }

// Ring has rank i send to rank i+1, and the last to rank 0.
func Ring(ranks int, bytes int64) (*Matrix, error) {
	return oneEach(ranks, bytes, func(from int) int { return (from + 1) % ranks })
}

// Incast has all ranks send to one.
func Incast(ranks, target int, bytes int64) (*Matrix, error) {
	if err := checkOne(ranks, target); err != nil {
		return nil, err
	}
	return generate(ranks, bytes, func(from int, send func(to int, bytes int64)) {
		if from != target {
			send(target, bytes)
		}
	})
}

// Outcast has one rank send to all others.
func Outcast(ranks, source int, bytes int64) (*Matrix, error) {
	if err := checkOne(ranks, source); err != nil {
		return nil, err
	}
	return generate(ranks, bytes, func(from int, send func(to int, bytes int64)) {
		for to := 0; from == source && to < ranks; to++ {
			if to != from {
				send(to, bytes)
			}
		}
	})
}

func checkOne(ranks, rank int) error {
	if rank < 0 || rank >= ranks {
		return fmt.Errorf("rank %d is none of the %d ranks", rank, ranks)
	}
	return nil
}

// Permutation has every rank send to one other and receive from one other, each
// such assignment being as likely as any.
func Permutation(ranks int, bytes int64, seed uint64) (*Matrix, error) {
	if err := checkSize(ranks, bytes); err != nil {
		return nil, err
	}
	rng := random(seed)
	for { // three tries on average: a permutation leaves nobody in place with probability 1/e
		to := rng.Perm(ranks)
		inPlace := false
		for i, t := range to {
			inPlace = inPlace || i == t
		}
		if !inPlace {
			return oneEach(ranks, bytes, func(from int) int { return to[from] })
		}
	}
}

// BlockDiagonal divides the ranks into groups of equal size, in which every rank
// sends to every other of its group.
func BlockDiagonal(ranks, block int, bytes int64) (*Matrix, error) {
	if err := checkSize(ranks, bytes); err != nil {
		return nil, err
	}
	if block < 2 || ranks%block != 0 {
		return nil, fmt.Errorf("%d ranks cannot be divided into groups of %d", ranks, block)
	}
	return generate(ranks, bytes, func(from int, send func(to int, bytes int64)) {
		first := from / block * block
		for to := first; to < first+block; to++ {
			if to != from {
				send(to, bytes)
			}
		}
	})
}

// RandomSparse has every rank send to so many others, chosen at random.
func RandomSparse(ranks, peers int, bytes int64, seed uint64) (*Matrix, error) {
	if peers < 1 || peers >= ranks {
		return nil, fmt.Errorf("each of %d ranks cannot send to %d others", ranks, peers)
	}
	rng := random(seed)
	return generate(ranks, bytes, func(from int, send func(to int, bytes int64)) {
		for _, to := range choose(rng, ranks-1, peers) {
			if to >= from {
				to++ // of the others
			}
			send(to, bytes)
		}
	})
}

// choose takes k of the numbers below n, ascending, by Floyd's algorithm
// (Bentley and Floyd, CACM 30(9), 1987): its work does not grow with n.
func choose(rng *rand.Rand, n, k int) []int {
	taken := make(map[int]bool, k)
	out := make([]int, 0, k)
	for last := n - k; last < n; last++ {
		pick := rng.IntN(last + 1)
		if taken[pick] {
			pick = last
		}
		taken[pick] = true
		out = append(out, pick)
	}
	slices.Sort(out)
	return out
}

// Zipf has every rank send so many bytes in all, of which the k-th most popular
// receiver gets a share in proportion to k^-exponent. The popularity of the ranks
// is a random order, the same for all senders. Sizes are rounded so that each row
// has exactly its bytes (largest remainders).
func Zipf(ranks int, bytesPerRank int64, exponent float64, seed uint64) (*Matrix, error) {
	if !(exponent >= 0 && exponent <= 100) {
		return nil, fmt.Errorf("an exponent of %v: it is 0 to 100", exponent)
	}
	if err := checkSize(ranks, bytesPerRank); err != nil {
		return nil, err
	}
	weight := make([]float64, ranks)
	for k, rank := range random(seed).Perm(ranks) {
		weight[rank] = math.Pow(float64(k+1), -exponent)
	}
	return generate(ranks, bytesPerRank, func(from int, send func(to int, bytes int64)) {
		shares := slices.Clone(weight)
		shares[from] = 0
		for to, bytes := range divide(bytesPerRank, shares) {
			send(to, bytes)
		}
	})
}

// divide splits a number in proportion to weights, by largest remainders.
func divide(total int64, weights []float64) []int64 {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	out, remainder := make([]int64, len(weights)), make([]float64, len(weights))
	order := make([]int, len(weights))
	left := total
	for i, w := range weights {
		exact := float64(total) * (w / sum)
		out[i] = left // above 2⁵³ the product may be rounded up
		if exact < float64(left) {
			out[i] = int64(exact)
		}
		remainder[i], order[i] = exact-float64(out[i]), i
		left -= out[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case remainder[a] > remainder[b]:
			return -1
		case remainder[a] < remainder[b]:
			return 1
		}
		return 0
	})
	takers := slices.DeleteFunc(order, func(i int) bool { return weights[i] == 0 })
	each, more := left/int64(len(takers)), left%int64(len(takers))
	for k, i := range takers {
		out[i] += each
		if int64(k) < more {
			out[i]++
		}
	}
	return out
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func oneEach(ranks int, bytes int64, to func(from int) int) (*Matrix, error) {
	return generate(ranks, bytes, func(from int, send func(to int, bytes int64)) { send(to(from), bytes) })
}

func checkSize(ranks int, bytes int64) error {
	if ranks < 2 || ranks > MaxRanks {
		return fmt.Errorf("traffic between %d ranks: there are 2 to %d", ranks, MaxRanks)
	}
	if bytes < 1 {
		return fmt.Errorf("cells of %d bytes: they are above 0", bytes)
	}
	return nil
}

// generate asks for the row of each rank in turn, with ascending receivers.
func generate(ranks int, bytes int64, row func(from int, send func(to int, bytes int64))) (*Matrix, error) {
	if err := checkSize(ranks, bytes); err != nil {
		return nil, err
	}
	b := newBuilder(ranks, ranks)
	var failed error
	for from := range ranks {
		row(from, func(to int, bytes int64) {
			if err := b.add(from, to, bytes); err != nil && failed == nil {
				failed = err
			}
		})
		if failed != nil {
			return nil, failed
		}
	}
	return b.done(), nil
}
