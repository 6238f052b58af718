// Package schedule computes the scheduled times of the requests of an open load: at a rate, with random gaps, in bursts
// or from a trace. Times are nanoseconds from the start of the load. They depend only on the settings, so that clients
// on several hosts agree without communication.
package schedule

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// Kind is a distribution of the gaps between requests.
type Kind string

// The kinds of arrivals.
const (
	Constant Kind = "constant" // all gaps are equal
	Poisson  Kind = "poisson"  // gaps are exponential
	Gamma    Kind = "gamma"    // gaps have a gamma distribution
	Burst    Kind = "burst"    // several requests at one instant
)

const forms = "constant, poisson, gamma:SHAPE, burst or burst:REQUESTS"

// Arrivals are a kind with its parameter.
type Arrivals struct {
	Kind  Kind
	Shape float64 // of Gamma: 1 is poisson; gaps have the coefficient of variation 1/sqrt(Shape)
	Size  int     // of Burst: requests per instant; 0: all
}

// Limits of the parameters.
const (
	minShape = 0.01
	maxShape = 1e6
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
		if err != nil || !(shape >= minShape && shape <= maxShape) {
			return Arrivals{}, fmt.Errorf("%q: write gamma:SHAPE with a shape from %v to %v", text, minShape,
				maxShape)
		}
		a.Shape = shape
	case Burst:
		if !numbered {
			break
		}
		size, err := strconv.Atoi(number)
		if err != nil || size < 1 || size > MaxRequests {
			return Arrivals{}, fmt.Errorf("%q: write burst:REQUESTS with 1 to %d requests", text, MaxRequests)
		}
		a.Size = size
	default:
		return Arrivals{}, fmt.Errorf("there are no arrivals %q: write %s", text, forms)
	}
	return a, nil
}

// String returns the form of ParseArrivals.
func (a Arrivals) String() string {
	switch {
	case a.Kind == Gamma:
		return "gamma:" + strconv.FormatFloat(a.Shape, 'g', -1, 64)
	case a.Kind == Burst && a.Size > 0:
		return "burst:" + strconv.Itoa(a.Size)
	}
	return string(a.Kind)
}

// Random reports whether gaps are random.
func (a Arrivals) Random() bool { return a.Kind == Poisson || a.Kind == Gamma }

// random is the random stream of the gaps of a launch.
func random(seed, launch uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, launch)) }

// operational returns the successive times of requests of a load of 1 request per unit of time. A random load starts
// with a gap, as a stationary process does; other loads start with a request.
func (a Arrivals) operational(rng *rand.Rand) func() float64 {
	i, at := -1, 0.
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

// exponential draws from the exponential distribution of mean 1, by one random number.
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
