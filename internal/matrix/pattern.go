package matrix

import "math"

// Pattern is one step of a sequence of traffic: a matrix, and sleeps before and after it.
type Pattern struct {
	Matrix      *Matrix
	SleepBefore float64 // seconds between the barrier of its ranks and its start
	SleepAfter  float64 // seconds after its end
	Metadata    []Field // further fields in the order of the file, as the length of the prompts
}

// MaxSleep bounds the sleeps of a pattern in seconds: more than a year is probably a wrong unit.
const MaxSleep = 366 * 86400

// Field is one entry of a pattern's metadata: raw text, as written.
type Field struct{ Key, Value string }

// Lookup returns the value of a metadata field.
func (p *Pattern) Lookup(key string) (string, bool) {
	for _, f := range p.Metadata {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}

// Sleeping returns the sum of all sleeps in seconds: the minimum duration of a sequence if no
// patterns overlap.
func Sleeping(patterns []Pattern) float64 {
	sum, lost := 0.0, 0.0 // Kahan summation: the sum of a million short sleeps does not depend on their order
	for _, p := range patterns {
		y := p.SleepBefore + p.SleepAfter - lost
		t := sum + y
		lost = (t - sum) - y
		sum = t
	}
	return sum
}

// Bytes returns the sum of all patterns in bytes, at most 2⁶³-1.
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
