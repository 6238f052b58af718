package routing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
)

// The kinds of routing.
const (
	Uniform   = "uniform"
	TopK      = "top_k"
	Lognormal = "lognormal"
	Zipf      = "zipf"
	Hot       = "hot"
	Group     = "group"
)

// Kinds are all kinds of routing.
var Kinds = []string{Uniform, TopK, Lognormal, Zipf, Hot, Group}

// kind is a way to select experts.
type kind struct {
	distinct bool // the experts of a token differ
	check    func(Settings) error
	fill     func(Settings, *Table) error
}

var kinds = map[string]kind{
	Uniform:   {fill: fillUniform},
	TopK:      {distinct: true, fill: fillTopK},
	Lognormal: {distinct: true, check: checkMaxVio, fill: fillLognormal},
	Zipf:      {distinct: true, fill: fillZipf},
	Hot:       {distinct: true, check: checkHot, fill: fillHot},
	Group:     {distinct: true, check: checkGroup, fill: fillGroup},
}

// fillUniform selects each expert with the same probability; an expert may be selected twice.
func fillUniform(s Settings, t *Table) error {
	for rank, list := range t.Experts {
		rng := s.random(forRoutes, uint64(rank))
		for i := range list {
			list[i] = int32(rng.IntN(t.All()))
		}
	}
	return nil
}

// fillTopK selects the experts with the highest independent scores: all sets of top_k experts, in all orders, are
// equally likely.
func fillTopK(s Settings, t *Table) error {
	for rank, list := range t.Experts {
		rng, deck := s.random(forRoutes, uint64(rank)), deckOf(0, t.All())
		for first := 0; first < len(list); first += t.TopK {
			deal(rng, deck, list[first:first+t.TopK])
		}
	}
	return nil
}

func deckOf(first, n int) []int32 {
	deck := make([]int32, n)
	for i := range deck {
		deck[i] = int32(first + i)
	}
	return deck
}

// deal draws different cards from a deck (Fisher-Yates; the order of the rest does not matter).
func deal(rng *rand.Rand, deck, to []int32) {
	for i := range to {
		j := i + rng.IntN(len(deck)-i)
		deck[i], deck[j] = deck[j], deck[i]
		to[i] = deck[i]
	}
}

// fillGroup divides the experts into groups of neighbours; each token selects from half of the groups, rounded up, as
// in DeepSeek-V3 (arXiv 2412.19437, §2.1.2: 4 of 8 groups).
func fillGroup(s Settings, t *Table) error {
	size := t.All() / s.Groups
	chosen := make([]int32, (s.Groups+1)/2)
	for rank, list := range t.Experts {
		rng, groups := s.random(forRoutes, uint64(rank)), deckOf(0, s.Groups)
		for first := 0; first < len(list); first += t.TopK {
			deal(rng, groups, chosen)
			var deck []int32
			for _, g := range chosen {
				deck = append(deck, deckOf(int(g)*size, size)...)
			}
			deal(rng, deck, list[first:first+t.TopK])
		}
	}
	return nil
}

func checkGroup(s Settings) error {
	experts := s.Ranks * s.PerRank
	switch {
	case s.Groups < 1 || experts%s.Groups != 0:
		return fmt.Errorf("%d experts cannot be divided into %d groups", experts, s.Groups)
	case s.TopK > (s.Groups+1)/2*(experts/s.Groups):
		return fmt.Errorf("a token selects %d different experts from %d groups of %d, which have too few", s.TopK,
			(s.Groups+1)/2, experts/s.Groups)
	}
	return nil
}

// fillZipf selects the k-th most popular expert in proportion to k^-exponent.
func fillZipf(s Settings, t *Table) error {
	share := make([]float64, t.All())
	for i, place := range s.random(forRoutes, 0).Perm(t.All()) {
		share[place] = quantity.Round(math.Pow(float64(i+1), -s.Exponent))
	}
	return t.assign(s, quotas(share, t.selections(), t.tokens()))
}

// fillHot gives a share of all selections to some experts, and the rest to the others.
func fillHot(s Settings, t *Table) error {
	share := make([]float64, t.All())
	for i, place := range s.random(forRoutes, 0).Perm(t.All()) {
		share[place] = (1 - s.HotShare) / float64(t.All()-s.Hot)
		if i < s.Hot {
			share[place] = s.HotShare / float64(s.Hot)
		}
	}
	return t.assign(s, quotas(share, t.selections(), t.tokens()))
}

func checkHot(s Settings) error {
	experts := s.Ranks * s.PerRank
	most := float64(s.Hot) / float64(s.TopK)
	switch {
	case s.Hot < 1 || s.Hot >= experts:
		return fmt.Errorf("%d hot experts of %d: at least one must be hot, and one not", s.Hot, experts)
	case s.HotShare > most:
		return fmt.Errorf("%d hot experts cannot have %v of all selections: each token selects an expert at most once, which allows %v",
			s.Hot, quantity.Percent(s.HotShare), quantity.Percent(most))
	case s.TopK > experts-s.Hot && s.HotShare < 1-float64(experts-s.Hot)/float64(s.TopK):
		return fmt.Errorf("%d experts that are not hot cannot have the rest of the selections", experts-s.Hot)
	}
	return nil
}

// fillLognormal draws the popularity of experts from a lognormal distribution, with the sigma for which the busiest
// expert has the load of MaxVio.
func fillLognormal(s Settings, t *Table) error {
	rng, z := s.random(forRoutes, 0), make([]float64, t.All())
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	total, tokens := t.selections(), t.tokens()
	if total == 0 {
		return nil
	}
	mean := float64(total) / float64(t.All())
	most := min(int(math.Round((1+s.MaxVio)*mean)), tokens)
	most = max(most, (total+t.All()-1)/t.All())
	low, high := 0., 64.
	for range 60 {
		sigma := (low + high) / 2
		if topShare(z, sigma)*float64(total) < float64(most) {
			low = sigma
		} else {
			high = sigma
		}
	}
	share := make([]float64, len(z))
	for i := range z {
		share[i] = quantity.Round(math.Exp(high * (z[i] - slices.Max(z))))
	}
	return t.assign(s, quotas(share, total, most))
}

// topShare returns the share of all selections of the most popular expert.
func topShare(z []float64, sigma float64) float64 {
	sum, top := 0., slices.Max(z)
	for _, v := range z {
		sum += quantity.Round(math.Exp(sigma * (v - top)))
	}
	return 1 / sum
}

func checkMaxVio(s Settings) error {
	most := float64(s.Ranks*s.PerRank)/float64(s.TopK) - 1
	if s.MaxVio > most {
		return fmt.Errorf("maxvio %v is impossible: each token selects an expert at most once, so the busiest of %d experts has at most %v times the mean, a maxvio of %v",
			s.MaxVio, s.Ranks*s.PerRank, quantity.Round(most+1), quantity.Round(most))
	}
	return nil
}
