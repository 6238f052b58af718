package gate

import (
	"math"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// shift is the common change of a metric between two sessions on the log scale. One pair of sessions
// cannot tell whether it is a real change or the session, so cases are also judged relative to it.
type shift struct {
	center, variance float64
	n, together      int     // all changes, and those that belong to the shift
	scale            float64 // standard deviation of most changes around it
}

const (
	// leastChanges is the number of changes needed to estimate how sessions differ.
	leastChanges = 8
	// skipped is the number of standard deviations beyond which a change is excluded from the shift.
	skipped = 1.5
)

// shiftOf computes a skipped mean of changes (Andrews and others, Robust Estimates of Location, Princeton
// 1972): it repeatedly excludes those further than 1.5 standard deviations from the mean, estimated from
// the median deviation. It starts at the mean of the shortest interval with half of the changes, so that
// it follows the majority. Its variance, (2 + 10/n)·s²/n, is simulated: 1.7 to 2.1 at n = 100, 1.9 to 2.9
// at n = 8.
func shiftOf(changes []float64) *shift {
	x := slices.Sorted(slices.Values(changes))
	n := len(x)
	half := (n + 2) / 2
	center, width := 0., math.Inf(1)
	for i := 0; i+half <= n; i++ {
		if w := x[i+half-1] - x[i]; w < width {
			width = w
			center, _ = moments(x[i : i+half])
		}
	}
	scale := 0.
	for range 30 {
		deviations := make([]float64, n)
		for i, v := range x {
			deviations[i] = math.Abs(v - center)
		}
		scale = median(deviations) / normalMedian
		next, _ := moments(slices.DeleteFunc(slices.Clone(x),
			func(v float64) bool { return math.Abs(v-center) > skipped*scale }))
		if same := math.Abs(next-center) <= rounding; same {
			break
		}
		center = next
	}
	return &shift{center, (2 + 10/float64(n)) * scale * scale / float64(n), n, n, scale}
}

// interval is the interval of the shift as a ratio. The median deviation is as informative as about half
// of the changes.
func (s *shift) interval() [2]float64 {
	half := student(float64(s.n-1)/2, results.Confidence) * math.Sqrt(s.variance)
	return [2]float64{unlog(s.center - half), unlog(s.center + half)}
}

// significant reports whether the shift differs from none.
func (s *shift) significant() bool {
	ci := s.interval()
	return math.Abs(s.center) > rounding && (ci[0] > 1 || ci[1] < 1)
}

// beyond reports whether a shift is worse, or better, by more than a margin.
func (s *shift) beyond(direction string, margin float64) (worse, better bool) {
	up, down := s.center > math.Log1p(margin), s.center < math.Log1p(-margin)
	switch workload.Direction(direction) {
	case workload.Higher:
		return down, up
	case workload.Lower:
		return up, down
	}
	return false, false
}

// reportShifts adds significant shifts to the comparison, in the order of its effects.
func (c *comparer) reportShifts() {
	seen := map[*shift]bool{}
	for _, x := range c.contrasts {
		s := x.shift
		if s != nil && s.significant() && !seen[s] {
			seen[s] = true
			c.out.Shifts = append(c.out.Shifts, results.Shift{
				Metric: x.effect.Metric, Better: x.effect.Better, Value: quantity.Round(unlog(s.center)),
				CI: s.interval(), Cases: s.together, Of: s.n,
			})
		}
	}
}
