package gate

import (
	"cmp"
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
	// leastNear is the number of changes needed to take the shift, or the spread, from a part of them.
	leastNear = 3
)

// shiftOf computes the shift. It is that of the majority, unless the majority may have changed: of two halves far
// apart, and beyond what sessions are assumed to do, the changes nearer to none decide.
func shiftOf(changes []float64) *shift {
	bySize := slices.SortedFunc(slices.Values(changes), func(a, b float64) int {
		return cmp.Or(cmp.Compare(math.Abs(a), math.Abs(b)), cmp.Compare(a, b))
	})
	s := skippedMean(bySize)
	// Normal changes look like two halves in 4 % of comparisons of 8 cases (simulated), and in fewer of more.
	n := len(changes)
	if nearer := skippedMean(bySize[:n-(n+4)/8]); (1.5+12/float64(n))*nearer.scale < s.scale {
		s = nearer
	}
	near, _ := slices.BinarySearchFunc(bySize, farthestShift,
		func(v, most float64) int { return cmp.Compare(math.Abs(v), most) })
	if s.exceedsSessions() && near >= leastNear {
		s = skippedMean(bySize[:near])
	}
	s.n = n
	return s
}

// assumedShift is the standard deviation of a change between sessions that vary by assumedSessions.
const assumedShift = math.Sqrt2 * assumedSessions

// farthestShift is exceeded by such changes with probability 1 − confidence.
var farthestShift = results.FarthestSessions()

// exceedsSessions reports whether the shift is beyond what sessions are assumed to do.
func (s *shift) exceedsSessions() bool { return math.Abs(s.center) > farthestShift }

// wide reports whether most changes vary by more than sessions are assumed to.
func (s *shift) wide() bool { return s.scale > assumedShift }

// skippedMean computes a skipped mean of changes (Andrews and others, Robust Estimates of Location, Princeton
// 1972): it repeatedly excludes those further than 1.5 standard deviations from the mean, estimated from
// the median deviation. It starts at the mean of the shortest interval with half of the changes, so that
// it follows the majority. Its variance, (2 + 10/n)·s²/n, is simulated: 1.7 to 2.1 at n = 100, 1.9 to 2.9
// at n = 8.
func skippedMean(changes []float64) *shift {
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
