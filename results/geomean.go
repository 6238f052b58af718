package results

import "math"

// Geomean is the geometric mean of what became of one metric over the cases of a comparison.
// It describes them and is no verdict.
type Geomean struct {
	Metric string  `json:"metric"`
	Better string  `json:"better"`
	Cases  int     `json:"cases"`
	Change float64 `json:"change" doc:"New as a ratio to the base."`
}

// Geomeans are those of the metrics whose changes are ratios and which two cases have at least,
// in the order of the effects.
func Geomeans(effects []*Effect) []Geomean {
	var out []Geomean
	index := map[string]int{}
	for _, e := range effects {
		if e.Change == nil || e.Additive || !(e.Change.Value > 0) {
			continue
		}
		i, ok := index[e.Metric]
		if !ok {
			i = len(out)
			index[e.Metric] = i
			out = append(out, Geomean{Metric: e.Metric, Better: e.Better})
		}
		out[i].Cases++
		out[i].Change += math.Log(e.Change.Value)
	}
	kept := out[:0]
	for _, g := range out {
		if g.Cases > 1 {
			g.Change = math.Exp(g.Change / float64(g.Cases))
			kept = append(kept, g)
		}
	}
	return kept
}
