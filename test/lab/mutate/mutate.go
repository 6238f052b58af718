// Package mutate makes hostile messages of genuine ones, for tests that receivers are
// not disturbed by them.
package mutate

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// oversized is how long the longest messages are, in bytes: longer than anything that
// is taken. One in rare is that long.
const (
	oversized = 2 << 20
	rare      = 4096
)

// Mutator makes messages, the same for the same seed. It is for one goroutine.
type Mutator struct {
	r       *rand.Rand
	genuine [][]byte
	large   []byte
}

// New makes a mutator of one genuine message or more.
func New(seed uint64, genuine ...[]byte) *Mutator {
	return &Mutator{r: rand.New(rand.NewPCG(seed, 1)), genuine: genuine, large: bytes.Repeat([]byte{1}, oversized)}
}

// Next is a message: noise, a genuine one as it is, or one that was damaged, cut, grown
// or made of two. It holds until the next.
func (g *Mutator) Next() []byte {
	one := g.genuine[g.r.IntN(len(g.genuine))]
	if g.r.IntN(rare) == 0 {
		return g.large[:copy(g.large, one)+g.r.IntN(oversized-len(one))]
	}
	b := bytes.Clone(one)
	for range 1 + g.r.IntN(3) {
		b = g.change(b)
	}
	return b
}

func (g *Mutator) change(b []byte) []byte {
	at := g.r.IntN(len(b) + 1)
	switch g.r.IntN(8) {
	case 0:
		return g.noise(g.r.IntN(300))
	case 1:
		return b // as it is: a replay
	case 2:
		return b[:at]
	case 3:
		return append(b, g.noise(1+g.r.IntN(64))...)
	case 4:
		other := g.genuine[g.r.IntN(len(g.genuine))]
		return append(b[:at:at], other[min(at, len(other)):]...)
	case 5: // a length that lies
		if at+4 <= len(b) {
			binary.BigEndian.PutUint32(b[at:], g.r.Uint32()>>g.r.IntN(32))
		}
		return b
	case 6:
		return append(append(b[:at:at], g.noise(1+g.r.IntN(8))...), b[at:]...)
	}
	if at < len(b) {
		b[at] ^= 1 << g.r.IntN(8)
	}
	return b
}

func (g *Mutator) noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.r.Uint32())
	}
	return b
}
