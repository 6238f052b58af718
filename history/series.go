package history

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/weir-bench/weir/results"
)

// series are values of sessions by time, on the scale of comparison.
type series struct {
	values []float64
	ratio  bool // values are logarithms
	// spread is the relative standard deviation of each value: sessions with more launches weigh more, as far
	// as launches and not sessions vary.
	spread []float64
}

func (s series) upTo(n int) series { return series{s.values[:n], s.ratio, s.spread[:n]} }
func (s series) from(i int) series { return series{s.values[i:], s.ratio, s.spread[i:]} }

// seriesOf converts the points of a trend. The variance of launches is pooled over sessions; the remaining
// variance of sessions follows from the differences of neighbours, which few changes of level affect.
func seriesOf(points []Point) series {
	s := series{ratio: true}
	for _, p := range points {
		s.ratio = s.ratio && p.Value > 0
	}
	scaled := func(v float64) float64 {
		if s.ratio {
			return math.Log(v)
		}
		return v
	}
	squares, df, perLaunch := 0., 0., 0.
	for _, p := range points {
		s.values = append(s.values, scaled(p.Value))
		perLaunch += 1 / float64(max(p.N, 1)) / float64(len(points))
		var values []float64
		for _, v := range p.launches {
			if !s.ratio || v > 0 {
				values = append(values, scaled(v))
			}
		}
		if len(values) > 1 {
			_, sd := stat.MeanStdDev(values, nil)
			squares, df = squares+sd*sd*float64(len(values)-1), df+float64(len(values)-1)
		}
	}
	s.spread = slices.Repeat([]float64{1}, len(points))
	if df == 0 || len(points) < 2 {
		return s
	}
	launch := squares / df
	session := max(0, neighbourVariance(s.values)-launch*perLaunch)
	if launch == 0 {
		return s
	}
	for i, p := range points {
		s.spread[i] = math.Sqrt((session + launch/float64(max(p.N, 1))) / (session + launch*perLaunch))
	}
	return s
}

// neighbourVariance estimates the variance of values from the median difference of neighbours, which is
// robust to few changes.
func neighbourVariance(values []float64) float64 {
	var d []float64
	for i := range values[1:] {
		d = append(d, math.Abs(values[i+1]-values[i]))
	}
	slices.Sort(d)
	sd := stat.Quantile(0.5, stat.Empirical, d, nil) / 0.6745
	return sd * sd / 2
}

// launchesOf returns the values of a metric in the usable launches.
func launchesOf(c *results.Case, metric string) []float64 {
	var out []float64
	for _, l := range c.Succeeded() {
		if v, ok := l.Metrics.Get(metric); ok {
			out = append(out, v)
		}
	}
	return out
}
