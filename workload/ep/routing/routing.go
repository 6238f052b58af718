// Package routing makes and describes the routes of tokens to experts in a mixture-of-experts layer: for each token of
// each rank, top_k experts and their weights. Equal settings give equal routes on every machine, so that ranks, reports
// and kernels agree without communication.
package routing

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
)

// Masked is the expert of a left out selection.
const Masked = -1

// Table has the routes of all ranks. Experts are numbered over all ranks: expert e is on rank e / PerRank.
type Table struct {
	Ranks, PerRank, TopK int
	Tokens               []int       // by rank
	Experts              [][]int32   // by rank: TopK for each token, in the order of its selections
	Weights              [][]float32 // by rank, of the same selections; those of a token add up to 1, masked ones are 0
	Absent               []bool      // by rank: whether it is outside the group; nil: none is
}

// Member reports whether a rank is in the group.
func (t *Table) Member(rank int) bool { return t.Absent == nil || !t.Absent[rank] }

// Settings determine a table.
type Settings struct {
	Ranks, PerRank, TopK int
	Tokens               Tokens
	Kind                 string // one of Kinds
	Seed                 uint64
	MaxVio               float64 // of Lognormal: tokens of the busiest expert / mean - 1
	Exponent             float64 // of Zipf
	Hot                  int     // of Hot: number of hot experts
	HotShare             float64 // of Hot: share of all selections of the hot experts together
	Groups               int     // of Group
	Masked               float64 // share of the selections that are left out
}

// Streams of random numbers, one for each purpose, so that they are independent.
const (
	forTokens uint64 = iota
	forRoutes
	forWeights
	forMasks
)

func (s Settings) random(purpose, rank uint64) *rand.Rand {
	return rand.New(rand.NewPCG(s.Seed, purpose<<32|rank))
}

// Make makes the table of these settings.
func Make(s Settings) (*Table, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	t := &Table{
		Ranks: s.Ranks, PerRank: s.PerRank, TopK: s.TopK, Tokens: s.Tokens.draw(s), Experts: make([][]int32, s.Ranks),
	}
	for rank, n := range t.Tokens {
		t.Experts[rank] = make([]int32, n*s.TopK)
	}
	if err := kinds[s.Kind].fill(s, t); err != nil {
		return nil, err
	}
	t.mask(s)
	t.weigh(s)
	return t, nil
}

// Check validates settings without making their table.
func (s Settings) Check() error {
	k, known := kinds[s.Kind]
	experts := s.Ranks * s.PerRank
	switch {
	case !known:
		return fmt.Errorf("there is no routing %q", s.Kind)
	case k.distinct && s.TopK > experts:
		return fmt.Errorf("routing %s selects %d different experts for each token, and there are %d: raise ranks or experts_per_rank, "+
			"or lower top_k", s.Kind, s.TopK, experts)
	case k.check != nil:
		return k.check(s)
	}
	return nil
}

// All is the number of experts of all ranks.
func (t *Table) All() int { return t.Ranks * t.PerRank }

// Selection returns the k-th selection of a token: Masked, or an expert.
func (t *Table) Selection(rank, token, k int) int { return int(t.Experts[rank][token*t.TopK+k]) }

// RankOf returns the rank of an expert.
func (t *Table) RankOf(expert int) int { return expert / t.PerRank }

// mask removes a random share of all selections.
func (t *Table) mask(s Settings) {
	if s.Masked == 0 {
		return
	}
	for rank, list := range t.Experts {
		chosen := s.random(forMasks, uint64(rank)).Perm(len(list))
		for _, i := range chosen[:int(math.Round(s.Masked*float64(len(list))))] {
			list[i] = Masked
		}
	}
}

// weigh gives each selection a weight from (0, 1], divided by the sum over its token.
func (t *Table) weigh(s Settings) {
	t.Weights = make([][]float32, t.Ranks)
	for rank, list := range t.Experts {
		rng := s.random(forWeights, uint64(rank))
		w := make([]float32, len(list))
		for first := 0; first < len(list); first += t.TopK {
			sum := float32(0)
			for i := first; i < first+t.TopK; i++ {
				drawn := float32(rng.Uint32()>>8+1) / (1 << 24)
				if list[i] != Masked {
					w[i] = drawn
					sum += drawn
				}
			}
			for i := first; i < first+t.TopK && sum > 0; i++ {
				w[i] /= sum
			}
		}
		t.Weights[rank] = w
	}
}

// Digest returns a hash of the table.
func (t *Table) Digest() string {
	h := sha256.New()
	var b []byte
	for _, n := range []int{t.Ranks, t.PerRank, t.TopK} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	h.Write(b)
	for rank, list := range t.Experts {
		b = binary.LittleEndian.AppendUint32(b[:0], uint32(t.Tokens[rank]))
		for i, expert := range list {
			b = binary.LittleEndian.AppendUint32(b, uint32(expert))
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(t.Weights[rank][i]))
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
