package results

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Geomean is the geometric mean of the changes of one metric over the cases of a comparison, with its
// verdict. It does not affect the exit code.
type Geomean struct {
	Metric  string        `json:"metric"`
	Better  string        `json:"better"`
	Cases   int           `json:"cases"`
	Change  float64       `json:"change" doc:"New as a ratio to the base."`
	CI      *[2]float64   `json:"ci,omitempty" doc:"As wide as the intervals of the cases are on average, on a logarithmic scale. Absent where a case has none."`
	Verdict EffectVerdict `json:"verdict,omitempty" doc:"What ci says of the margin."`
}

// Geomeans returns those of metrics with ratios for at least two cases, in the order of the effects;
// margin is the accepted worsening.
//
// The log of the geometric mean is the mean of the cases' log ratios. Its interval has the mean width of
// the cases' intervals, because the standard deviation of a mean is at most the mean of the standard
// deviations for any correlation, and cases of the same processes are correlated. Independent cases would
// allow a narrower one, by up to the root of their number.
func Geomeans(effects []*Effect, margin float64) []Geomean {
	var out []Geomean
	var ends []*[2]float64 // sums of log interval ends; nil if a case has none
	found, alone := map[string]bool{}, map[string]bool{}
	index := map[string]int{}
	for _, e := range effects {
		if e.Change == nil || e.Additive || !(e.Change.Value > 0) {
			continue
		}
		i, ok := index[e.Metric]
		if !ok {
			i = len(out)
			index[e.Metric] = i
			out, ends = append(out, Geomean{Metric: e.Metric, Better: e.Better}), append(ends, new([2]float64))
		}
		out[i].Cases++
		out[i].Change += math.Log(e.Change.Value)
		found[e.Metric] = found[e.Metric] || e.Change.Found
		alone[e.Metric] = alone[e.Metric] || e.Change.Assumes || e.Change.Shift != 0
		ends[i] = addEnds(ends[i], e.Change.CI)
	}
	kept := out[:0]
	for i, g := range out {
		if g.Cases < 2 {
			continue
		}
		mean := func(sum float64) float64 { return math.Exp(sum / float64(g.Cases)) }
		g.Change = mean(g.Change)
		if ends[i] != nil {
			g.CI = &[2]float64{mean(ends[i][0]), mean(ends[i][1])}
		}
		g.Verdict = g.judged(margin, found[g.Metric], alone[g.Metric])
		kept = append(kept, g)
	}
	return kept
}

func addEnds(sum, ci *[2]float64) *[2]float64 {
	if sum == nil || ci == nil || Uninformative(ci) || !(ci[0] > 0) || math.IsInf(ci[1], 1) {
		return nil
	}
	return &[2]float64{sum[0] + math.Log(ci[0]), sum[1] + math.Log(ci[1])}
}

// judged compares the interval with the margin, as for an effect. Without a found change in any case it is
// inconclusive. With a single pair of sessions as the only information on them (alone), a regression or an
// improvement must hold also if sessions vary by AssumedSessions.
func (g Geomean) judged(margin float64, found, alone bool) EffectVerdict {
	if g.Better != "higher" && g.Better != "lower" {
		return Reported
	}
	if g.CI == nil {
		return Unclear
	}
	best, worst, limit := g.CI[0], g.CI[1], 1+margin // of metrics where lower is better
	if g.Better == "higher" {
		best, worst, limit = 1/g.CI[1], 1/g.CI[0], 1/(1-margin)
	}
	sessions := 1.
	if alone {
		sessions = math.Exp(FarthestSessions())
	}
	switch {
	case best > limit*sessions && found:
		return Regression
	case worst > limit:
		return Unclear
	case worst*sessions < 1 && found:
		return Improved
	}
	return NoRegression
}

// FarthestSessions is the log ratio that two sessions exceed with a probability of 1 − Confidence, if they vary by
// AssumedSessions.
func FarthestSessions() float64 {
	return distuv.UnitNormal.Quantile((1+Confidence)/2) * math.Sqrt2 * AssumedSessions
}
