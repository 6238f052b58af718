package history

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/weir-bench/weir/internal/quantity"
)

// A decline in small steps has no level to change from. It is tested by the likelihood ratio of a line to a level, with
// the noise of both as for changes: what is left beside a line is far less correlated than beside a level.

// drift is a rise or fall by about the same amount with each session since the last change.
type drift struct {
	from, to int     // sessions, without to
	raised   int     // index of the session with which it was first reported
	slope    float64 // for each session, on the scale of comparison
	ratio    float64 // statistic
	p        float64 // see pOf
}

// slope fits a line to the sessions since the last change. The statistic is twice the log likelihood ratio to a level,
// with a small-sample correction as in best.
func (s series) slope(cuts []changePoint) (d drift) {
	part, starts, offset := s.recent(cuts)
	n, start := len(part.values), starts[len(starts)-1]
	d.from, d.to, d.raised = start+offset, n+offset, n+offset-1
	if n-start < FirstLook {
		return d
	}
	without, with := math.Inf(-1), math.Inf(-1)
	for _, rho := range autocorrelations {
		f := part.fit(starts, rho)
		without = max(without, f.likelihood(f.squares))
		line := make([]float64, n)
		for i := start + 1; i < n; i++ {
			x := float64(i - start)
			line[i] = x/part.spread[i] - rho*(x-1)/part.spread[i-1]
		}
		for _, b := range f.basis {
			subtract(line, b, dot(line, b))
		}
		along, size := dot(f.residuals, line), dot(line, line)
		if l := f.likelihood(f.squares - along*along/size); l > with {
			with, d.slope = l, along/size
		}
	}
	d.ratio = max(0, 2*(with-without)*float64(n-len(starts)-2)/float64(n))
	return d
}

// ends are the values of the line at its first and last session, in the metric's unit.
func (d drift) ends(s series) (first, last float64) {
	middle, half := stat.Mean(s.values[d.from:d.to], nil), d.slope*float64(d.to-d.from-1)/2
	first, last = middle-half, middle+half
	if s.ratio {
		first, last = math.Exp(first), math.Exp(last)
	}
	return first, last
}

// joined returns the drifts with this one, which is the last if it began with the same session.
func (d drift) joined(all []drift) []drift {
	if last := len(all) - 1; last >= 0 && all[last].from == d.from {
		d.raised, d.p = all[last].raised, all[last].p
		all[last] = d
		return all
	}
	return append(all, d)
}

// Drift is a rise or fall with each session, of the points From to To-1.
type Drift struct {
	From int `json:"from"`
	To   int `json:"to"`
	// Raised is the session with which it was first reported.
	Raised string `json:"raised"`
	// EachSession is the change with a session: a share if Ratio, otherwise in the unit.
	EachSession float64 `json:"each_session"`
	Ratio       bool    `json:"ratio"` // all values of the trend are positive
	// Values are those of the line at its first and last session.
	Values [2]float64 `json:"values"`
	Effect string     `json:"effect"` // better | worse | other
	// P is as that of a Change.
	P float64 `json:"p"`
}

// At returns the value of the line at a point, straight in the unit.
func (d Drift) At(i int) float64 {
	if d.To-d.From < 2 {
		return d.Values[0]
	}
	share := float64(i-d.From) / float64(d.To-d.From-1)
	return d.Values[0]*(1-share) + d.Values[1]*share
}

// Center returns the value that the trend has at a point without noise: that of a drift, or of its level.
func (t *Trend) Center(i int) float64 {
	for _, d := range slices.Backward(t.Drifts) {
		if d.From <= i && i < d.To {
			return d.At(i)
		}
	}
	for _, l := range slices.Backward(t.Levels) {
		if l.From <= i {
			return l.Value
		}
	}
	return math.NaN()
}

// reported returns a drift in the unit of the trend.
func (d drift) reported(t *Trend, s series) Drift {
	first, last := d.ends(s)
	each := d.slope
	if s.ratio {
		each = math.Expm1(each)
	}
	return Drift{
		From: d.from, To: d.to, Raised: t.Points[d.raised].Session, P: d.p,
		EachSession: quantity.Round(each), Ratio: s.ratio,
		Values: [2]float64{quantity.Round(first), quantity.Round(last)}, Effect: effect(first, last, t.Better),
	}
}
