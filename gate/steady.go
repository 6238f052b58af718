package gate

import (
	"math"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

const (
	// leastLaunches is the number of launches needed to detect a warm-up.
	leastLaunches = 3
	// wrongWarmUp is the largest share of steady cases that are marked wrongly.
	wrongWarmUp = 0.05
	// leastMove is the smallest reported effect of the warm-up on the bandwidth.
	leastMove = 0.01
)

// warmUp reports whether the warm-up of launches was too short. Their courses are averaged piece by piece
// (P. D. Welch, The statistical analysis of simulation results, 1983), and the start to remove is chosen
// by the marginal standard error rule (K. P. White, An effective truncation heuristic for bias reduction
// in simulation output, Simulation 69, 1997). The rule removes something of steady courses too, so the
// start must differ from the rest by a t-test over launches, which are independent, with the error shared
// among all candidate starts. nil: no warm-up found, or too few launches with courses.
func warmUp(launches []*results.Launch) *results.WarmUp {
	courses := coursesOf(launches)
	if len(courses) < leastLaunches {
		return nil
	}
	n := len(courses[0])
	mean := make([]float64, n)
	for _, c := range courses {
		for i, v := range c {
			mean[i] += v / float64(len(courses))
		}
	}
	start := leftOut(mean)
	if start == 0 {
		return nil
	}
	contrasts := make([]float64, len(courses))
	for i, c := range courses {
		first, _ := moments(c[:start])
		rest, _ := moments(c[start:])
		contrasts[i] = first - rest
	}
	by, sd := moments(contrasts)
	limit := student(float64(len(courses)-1), 1-wrongWarmUp/float64(n/2)) * sd / math.Sqrt(float64(len(courses)))
	moves := math.Abs(math.Expm1(by)) * float64(start) / float64(n)
	if math.Abs(by) <= limit || moves < leastMove {
		return nil
	}
	return &results.WarmUp{
		Pieces: start, Of: n, Ratio: quantity.Round(math.Exp(by)), Moves: quantity.Round(moves),
	}
}

// coursesOf are logarithms of the pieces of launches that have as many pieces as the first.
func coursesOf(launches []*results.Launch) (out [][]float64) {
	for _, l := range byIndex(launches) {
		if len(l.Pieces) < 2 || len(out) > 0 && len(l.Pieces) != len(out[0]) {
			continue
		}
		course := logs(l.Pieces)
		usable := true
		for _, v := range course {
			usable = usable && !notFinite(v)
		}
		if usable {
			out = append(out, course)
		}
	}
	return out
}

// leftOut is the number of values, up to half, to remove from the start of a course: it minimises the
// squared standard error of the mean.
func leftOut(course []float64) int {
	n := len(course)
	best, least := 0, math.Inf(1)
	for d := 0; d <= n/2; d++ {
		_, sd := moments(course[d:])
		left := float64(n - d)
		if e := sd * sd * (left - 1) / (left * left); e < least {
			best, least = d, e
		}
	}
	return best
}
