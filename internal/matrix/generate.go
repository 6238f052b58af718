package matrix

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Each generator returns the same matrix for the same arguments on every machine. bytes is the size
// of a cell unless stated otherwise. No rank sends to itself.

// Uniform returns a matrix in which every rank sends to every other.
func Uniform(ranks int, bytes int64) (*Matrix, error) { return BlockDiagonal(ranks, ranks, bytes) }

// Ring returns a matrix in which rank i sends to rank i+1, and the last to rank 0.
func Ring(ranks int, bytes int64) (*Matrix, error) {
	return oneEach(ranks, bytes, func(from int) int { return (from + 1) % ranks })
}

// Incast returns a matrix in which all ranks send to one.
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

// Outcast returns a matrix in which one rank sends to all others.
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
		return fmt.Errorf("rank %d is not one of the %d ranks", rank, ranks)
	}
	return nil
}

// Permutation returns a matrix in which every rank sends to one other and receives from one other;
// all such assignments are equally likely.
func Permutation(ranks int, bytes int64, seed uint64) (*Matrix, error) {
	if err := checkSize(ranks, bytes); err != nil {
		return nil, err
	}
	rng := random(seed)
	for { // three tries on average: a permutation has no fixed point with probability 1/e
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

// BlockDiagonal divides the ranks into groups of equal size, in which every rank sends to every
// other.
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

// RandomSparse returns a matrix in which every rank sends to a number of randomly chosen peers.
func RandomSparse(ranks, peers int, bytes int64, seed uint64) (*Matrix, error) {
	if peers < 1 || peers >= ranks {
		return nil, fmt.Errorf("each of %d ranks cannot send to %d others", ranks, peers)
	}
	rng := random(seed)
	return generate(ranks, bytes, func(from int, send func(to int, bytes int64)) {
		for _, to := range choose(rng, ranks-1, peers) {
			if to >= from {
				to++ // skip the rank itself
			}
			send(to, bytes)
		}
	})
}

// choose selects k of the numbers below n, ascending, by Floyd's algorithm (Bentley and Floyd, CACM
// 30(9), 1987), in time independent of n.
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

// Zipf returns a matrix in which every rank sends bytesPerRank bytes. The k-th most popular
// receiver gets a share proportional to k^-exponent. Popularity is a random order of ranks, the
// same for all senders. Sizes are rounded by largest remainders, so that each row has exactly its
// bytes.
func Zipf(ranks int, bytesPerRank int64, exponent float64, seed uint64) (*Matrix, error) {
	if !(exponent >= 0 && exponent <= 100) {
		return nil, fmt.Errorf("exponent %v is not from 0 to 100", exponent)
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
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainder[b], remainder[a]) })
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
		return fmt.Errorf("traffic between %d ranks: use 2 to %d", ranks, MaxRanks)
	}
	if bytes < 1 {
		return fmt.Errorf("cells of %d bytes: use more than 0", bytes)
	}
	return nil
}

// generate calls row for each rank in turn; receivers must be ascending.
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
