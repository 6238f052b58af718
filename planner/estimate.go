package planner

// Estimate tells how long the plan takes, from how many seconds a launch of each
// case took before, by case id. Unless that is known of every case that runs,
// nothing is told. Background load takes no time of its own.
func (p *Plan) Estimate(seconds map[string]float64) {
	ranges, during := p.launches()
	byKey := map[string]*Case{}
	for _, c := range p.Cases {
		byKey[c.Key] = c
	}
	weights := make([]float64, len(p.Groups))
	for i, g := range p.Groups {
		if len(g.During) > 0 {
			continue
		}
		for _, key := range g.Cases {
			s, ok := seconds[byKey[key].ID]
			if !ok {
				return
			}
			weights[i] += s
		}
	}
	all := total(ranges, during, weights)
	p.Cost.Seconds = &all
}
