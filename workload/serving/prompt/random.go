package prompt

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"github.com/weir-bench/weir/workload/serving/load"
)

// Streams of random numbers, one for each purpose, so that they are independent.
const (
	forLengths uint64 = iota
	forTexts
	forNonces
	forGroups
	forBlocks
	forLines
	forCancels
)

// hash combines the purpose of a stream. Phases have their own streams, so that warm-up requests share nothing with
// measured ones.
func (s *Set) hash(purpose uint64, phase load.Phase, n uint64) [2]uint64 {
	var b []byte
	for _, v := range []uint64{s.Seed, s.Launch, purpose, uint64(phase), n} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	sum := sha256.Sum256(b)
	return [2]uint64{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])}
}

func (s *Set) random(purpose uint64, phase load.Phase, n uint64) *rand.Rand {
	h := s.hash(purpose, phase, n)
	return rand.New(rand.NewPCG(h[0], h[1]))
}

// origin is the start of nonces for a prefix: other prefixes have other nonces.
const (
	ofRequest uint64 = iota
	ofGroup
)

// nonce returns a number that is unique in the set: consecutive numbers, offset by seed, launch and salt.
func (s *Set) nonce(origin uint64, phase load.Phase, n int) uint64 {
	return s.hash(forNonces, 0, s.Salt)[0] + origin<<62 + uint64(phase)<<56 + uint64(n)
}

// scatter is a bijection that separates neighbours (the end of SplitMix64).
func scatter(v uint64) uint64 {
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}
