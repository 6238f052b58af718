package prompt

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"weir/serving"
)

// Streams of random numbers: what is drawn for one purpose does not move the others.
const (
	forLengths uint64 = iota
	forTexts
	forNonces
	forGroups
	forBlocks
	forLines
	forCancels
)

// hash mixes what a stream is for. Phases have streams of their own, so that what warms a
// server up has nothing in common with what is measured.
func (s *Set) hash(purpose uint64, phase serving.Phase, n uint64) [2]uint64 {
	var b []byte
	for _, v := range []uint64{s.Seed, s.Launch, purpose, uint64(phase), n} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	sum := sha256.Sum256(b)
	return [2]uint64{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])}
}

func (s *Set) random(purpose uint64, phase serving.Phase, n uint64) *rand.Rand {
	h := s.hash(purpose, phase, n)
	return rand.New(rand.NewPCG(h[0], h[1]))
}

// origin of a nonce: what begins differently has another one.
const (
	ofRequest uint64 = iota
	ofGroup
)

// nonce is a number that nothing else of the set has: numbers in order, moved by the seed, the
// launch and the salt.
func (s *Set) nonce(origin uint64, phase serving.Phase, n int) uint64 {
	return s.hash(forNonces, 0, s.Salt)[0] + origin<<62 + uint64(phase)<<56 + uint64(n)
}

// scatter is a bijection in which neighbours have nothing in common (the end of SplitMix64).
func scatter(v uint64) uint64 {
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}
