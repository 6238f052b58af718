package gate

import (
	"math"

	"weir/quantity"
	"weir/results"
)

const (
	// leastLaunches are those from which a warm-up is told from chance.
	leastLaunches = 3
	// wrongWarmUp is the share of cases of steady launches that are marked at most.
	wrongWarmUp = 0.05
	// leastMove is by how much the start of launches must move their bandwidth to be told.
	leastMove = 0.01
)

// warmUp says whether the warm-up of launches was too short. Their courses are averaged, piece by
// piece (P. D. Welch, The statistical analysis of simulation results, 1983), and the start that
// is best left out is that of the marginal standard error rule (K. P. White, An effective
// truncation heuristic for bias reduction in simulation output, Simulation 69, 1997). The rule leaves out
// something of steady courses too. So the start must differ from the rest by a t-test over launches, which do not
// depend on each other as the pieces of one do, shared among all starts that it may choose. nil:
// it does not, or too few launches have courses.
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

// coursesOf are the logarithms of the pieces of launches that have as many as the first.
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

// leftOut is how many values at the start of a course, up to half of it, are best left out: those
// without which the squared standard error of the mean is least.
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
