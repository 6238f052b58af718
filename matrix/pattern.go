package matrix

import "math"

// Pattern is one step of a sequence of traffic: what moves, and what the ranks
// that take part wait for before it and after it.
type Pattern struct {
	Matrix      *Matrix
	SleepBefore float64 // seconds between the barrier of its ranks and its start
	SleepAfter  float64 // seconds after its end
	Metadata    []Field // what is known of it, as the length of the prompts; in the order of the file
}

// MaxSleep bounds the sleeps of a pattern, in seconds: what is longer than a year is
// no sleep but a wrong unit.
const MaxSleep = 366 * 86400

// Field is one entry of a pattern's metadata: raw text, as it was written.
type Field struct{ Key, Value string }

// Lookup is the value of a field of the metadata.
func (p *Pattern) Lookup(key string) (string, bool) {
	for _, f := range p.Metadata {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}

// Sleeping is how long all patterns sleep in sum, in seconds: what a sequence
// takes at least if no two of its patterns overlap.
func Sleeping(patterns []Pattern) float64 {
	sum, lost := 0.0, 0.0 // Kahan: the sum of a million short sleeps does not depend on their order
	for _, p := range patterns {
		y := p.SleepBefore + p.SleepAfter - lost
		t := sum + y
		lost = (t - sum) - y
		sum = t
	}
	return sum
}

// Bytes is what all patterns move in sum; it stops at 2⁶³-1.
func Bytes(patterns []Pattern) int64 {
	sum := int64(0)
	for _, p := range patterns {
		if p.Matrix.total > math.MaxInt64-sum {
			return math.MaxInt64
		}
		sum += p.Matrix.total
	}
	return sum
}
