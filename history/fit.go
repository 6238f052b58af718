package history

import "math"

// autocorrelations are the candidate correlations of neighbouring sessions. Thirty sessions cannot tell
// larger ones from a repaired regression.
var autocorrelations = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}

// fit are piecewise constant levels, fitted to a series with autocorrelated noise by generalised least
// squares: values are divided by their spread, and rho times the previous one is subtracted, which leaves
// independent residuals.
type fit struct {
	rho       float64
	first     []float64 // value of a level's basis vector where it begins
	on        []float64 // and at each later value
	basis     [][]float64
	residuals []float64
	squares   float64 // sum of squares of the residuals
	least     float64 // sum of squares that rounding alone can make
	// suffixes are the sums of on·v from a value on, for the residuals and each basis vector.
	suffixes [][]float64
	tails    []float64 // sums of the squares of on from a value on
}

// rounding is the relative difference that arithmetic alone can make.
const rounding = 1e-9

func (s series) fit(starts []int, rho float64) *fit {
	n := len(s.values)
	f := &fit{rho: rho, first: make([]float64, n), on: make([]float64, n), residuals: make([]float64, n)}
	scale := 0.
	for i, v := range s.values {
		scale = max(scale, math.Abs(v))
		f.first[i], f.on[i], f.residuals[i] = 1/s.spread[i], 1/s.spread[i], v/s.spread[i]
		if i > 0 {
			f.on[i] -= rho / s.spread[i-1]
			f.residuals[i] -= rho * s.values[i-1] / s.spread[i-1]
		}
	}
	if s.ratio {
		scale = 1 // for logarithms
	}
	f.least = float64(n) * rounding * rounding * scale * scale
	whole := math.Sqrt(1 - rho*rho) // the first value has no predecessor
	f.first[0], f.on[0], f.residuals[0] = whole*f.first[0], whole*f.on[0], whole*f.residuals[0]
	for _, start := range starts {
		f.add(start)
	}
	for _, v := range append(f.basis, f.residuals) {
		f.suffixes = append(f.suffixes, f.suffix(v))
	}
	f.tails = f.suffix(f.on)
	f.squares = dot(f.residuals, f.residuals)
	return f
}

// add adds a change at a value to the fit by Gram-Schmidt orthogonalisation.
func (f *fit) add(start int) {
	v := make([]float64, len(f.on))
	copy(v[start:], f.on[start:])
	v[start] = f.first[start]
	for _, b := range f.basis {
		subtract(v, b, dot(v, b))
	}
	size := math.Sqrt(dot(v, v))
	for i := range v {
		v[i] /= size
	}
	f.basis = append(f.basis, v)
	subtract(f.residuals, v, dot(f.residuals, v))
}

func (f *fit) suffix(v []float64) []float64 {
	out := make([]float64, len(v)+1)
	for i := len(v) - 1; i >= 0; i-- {
		out[i] = out[i+1] + f.on[i]*v[i]
	}
	return out
}

// explained is the reduction of the sum of squares by one more change at k.
func (f *fit) explained(k int) float64 {
	along := func(v, suffix []float64) float64 { return f.first[k]*v[k] + suffix[k+1] }
	size := f.first[k]*f.first[k] + f.tails[k+1]
	for i, b := range f.basis {
		a := along(b, f.suffixes[i])
		size -= a * a
	}
	a := along(f.residuals, f.suffixes[len(f.basis)])
	return a * a / size
}

// likelihood is the log likelihood for a sum of squared residuals, without constant terms.
func (f *fit) likelihood(squares float64) float64 {
	n := float64(len(f.on))
	return -n/2*math.Log(max(squares, f.least)/n) + math.Log(1-f.rho*f.rho)/2
}

func dot(a, b []float64) float64 {
	sum := 0.
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func subtract(v, b []float64, times float64) {
	for i := range v {
		v[i] -= times * b[i]
	}
}
