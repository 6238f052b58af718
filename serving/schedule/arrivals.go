// Package schedule says when the requests of an open load are due: at a rate, by drawn gaps, in
// bursts or as a trace has them. Times are nanoseconds from the start of the load. They follow
// from the settings alone, so clients on several hosts agree on them without telling each other.
package schedule

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"weir/quantity"
)

// Kind is how the gaps between requests are made.
type Kind string

// The kinds.
const (
	Constant Kind = "constant" // all gaps are equal
	Poisson  Kind = "poisson"  // gaps are exponential
	Gamma    Kind = "gamma"    // gaps have a gamma distribution
	Burst    Kind = "burst"    // several requests are due at one instant
)

const forms = "constant, poisson, gamma:SHAPE, burst or burst:REQUESTS"

// Arrivals are a kind with its number.
type Arrivals struct {
	Kind  Kind
	Shape float64 // of Gamma: 1 is poisson; gaps have the coefficient of variation 1/sqrt(Shape)
	Size  int     // of Burst: requests of one instant; 0: all
}

// Limits of the numbers of arrivals.
const (
	leastShape = 0.01
	mostShape  = 1e6
)

// ParseArrivals reads constant, poisson, gamma:SHAPE, burst or burst:REQUESTS.
func ParseArrivals(text string) (Arrivals, error) {
	name, number, numbered := strings.Cut(text, ":")
	a := Arrivals{Kind: Kind(name)}
	switch a.Kind {
	case Constant, Poisson:
		if numbered {
			return Arrivals{}, fmt.Errorf("%q: arrivals %s have no number", text, name)
		}
	case Gamma:
		shape, err := strconv.ParseFloat(number, 64)
		if err != nil || !(shape >= leastShape && shape <= mostShape) {
			return Arrivals{}, fmt.Errorf("%q: write gamma:SHAPE with a shape from %v to %v", text, leastShape,
				mostShape)
		}
		a.Shape = shape
	case Burst:
		if !numbered {
			break
		}
		size, err := strconv.Atoi(number)
		if err != nil || size < 1 || size > MostRequests {
			return Arrivals{}, fmt.Errorf("%q: write burst:REQUESTS with 1 to %d requests", text, MostRequests)
		}
		a.Size = size
	default:
		return Arrivals{}, fmt.Errorf("there are no arrivals %q: write %s", text, forms)
	}
	return a, nil
}

// String is what ParseArrivals reads.
func (a Arrivals) String() string {
	switch {
	case a.Kind == Gamma:
		return "gamma:" + strconv.FormatFloat(a.Shape, 'g', -1, 64)
	case a.Kind == Burst && a.Size > 0:
		return "burst:" + strconv.Itoa(a.Size)
	}
	return string(a.Kind)
}

// random draws the gaps of a load.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// operational returns the times of requests, one after the other, of a load of 1 request per
// unit of time. A drawn load starts with a gap, so that its requests are those of a process
// that has no beginning; other loads start with a request.
func (a Arrivals) operational(seed uint64) func() float64 {
	rng, i, at := random(seed), -1, 0.
	switch a.Kind {
	case Poisson:
		return func() float64 { at += exponential(rng); return at }
	case Gamma:
		return func() float64 { at += quantity.Round(gamma(rng, a.Shape) / a.Shape); return at }
	case Burst:
		size := max(a.Size, 1)
		return func() float64 { i++; return float64(i / size * size) }
	}
	return func() float64 { i++; return float64(i) }
}

// exponential draws from the exponential distribution of mean 1, from one random number.
func exponential(rng *rand.Rand) float64 { return quantity.Round(-math.Log(1 - rng.Float64())) }

// gamma draws from the gamma distribution of mean shape (Marsaglia and Tsang, A simple method
// for generating gamma variables, 2000).
func gamma(rng *rand.Rand, shape float64) float64 {
	boost := 1.
	if shape < 1 {
		boost = math.Pow(1-rng.Float64(), 1/shape)
		shape++
	}
	d := shape - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if quantity.Round(math.Log(1-rng.Float64())) < quantity.Round(x*x/2+d-d*v+d*math.Log(v)) {
			return float64(d*v) * boost
		}
	}
}
