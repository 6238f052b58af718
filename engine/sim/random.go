package sim

import (
	"math"
	"math/rand/v2"
)

// stream is a random stream that depends only on its purpose, so that another rank or case does not affect the others.
type stream struct{ *rand.Rand }

// streamFor returns the stream of a purpose, given as words.
func streamFor(words ...uint64) stream {
	a, b := uint64(0x9e3779b97f4a7c15), uint64(0xd1b54a32d192ed03)
	for _, w := range words {
		a = mix(a ^ w)
		b = mix(b + a)
	}
	return stream{rand.New(rand.NewPCG(a, b))}
}

// mix is the finalizer of splitmix64 (Steele, Lea and Flood 2014): every bit of the argument flips half of the result's
// bits.
func mix(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// textWord hashes a text to a word (64-bit FNV-1a).
func textWord(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// The purposes of streams.
const (
	forLaunch uint64 = iota + 1
	forFailure
	forDrift
	forRank
)

// sigma returns the standard deviation of the logarithm of a lognormal variable with this coefficient of variation: σ²
// = ln(1 + cv²).
func sigma(cv float64) float64 { return math.Sqrt(math.Log1p(cv * cv)) }

// walk is a random walk with normal steps of standard deviation 1.
type walk struct {
	steps stream
	taken int
	at    float64
}

func newWalk(seed int64) *walk { return &walk{steps: streamFor(uint64(seed), forDrift)} }

// after returns the position after n steps; n must not decrease.
func (w *walk) after(n int) float64 {
	for ; w.taken < n; w.taken++ {
		w.at += w.steps.NormFloat64()
	}
	return w.at
}
