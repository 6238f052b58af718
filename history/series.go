package history

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"weir/results"
)

// series are values of sessions on the scale on which they are compared, by time.
type series struct {
	values []float64
	ratio  bool // values are logarithms
	// spread is the standard deviation of each value, up to a common factor: sessions with more
	// launches weigh more, as far as it is launches that differ and not sessions.
	spread []float64
}

func (s series) upTo(n int) series { return series{s.values[:n], s.ratio, s.spread[:n]} }
func (s series) from(i int) series { return series{s.values[i:], s.ratio, s.spread[i:]} }

// seriesOf are the points of a trend. What launches of a session vary by is pooled over sessions,
// and what sessions vary by beside that follows from the differences between neighbours, of
// which a change of level is only one.
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
	session := max(0, neighbours(s.values)-launch*perLaunch)
	if launch == 0 {
		return s
	}
	for i, p := range points {
		s.spread[i] = math.Sqrt((session + launch/float64(max(p.N, 1))) / (session + launch*perLaunch))
	}
	return s
}

// neighbours is the variance of values that differ from their neighbours as these do: by the
// median of the differences, which no few changes move.
func neighbours(values []float64) float64 {
	var d []float64
	for i := range values[1:] {
		d = append(d, math.Abs(values[i+1]-values[i]))
	}
	slices.Sort(d)
	sd := stat.Quantile(0.5, stat.Empirical, d, nil) / 0.6745
	return sd * sd / 2
}

// launchesOf are the values of a metric in the launches that count.
func launchesOf(c *results.Case, metric string) []float64 {
	var out []float64
	for _, l := range c.Succeeded() {
		if v, ok := l.Metrics.Get(metric); ok {
			out = append(out, v)
		}
	}
	return out
}
