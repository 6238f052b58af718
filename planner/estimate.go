package planner

// Estimate tells how long the plan takes, from how many seconds a launch of each
// case took before, by case id. Unless that is known of every case that runs,
// nothing is told.
func (p *Plan) Estimate(seconds map[string]float64) {
	var total Range
	asking := askingKeys(p.Assertions)
	byKey := map[string]*Case{}
	for _, c := range p.Cases {
		byKey[c.Key] = c
		for _, a := range c.Assertions {
			asking[c.Key] = asking[c.Key] || asks(a)
		}
	}
	for _, g := range p.Groups {
		var launch float64
		asked := false
		for _, key := range g.Cases {
			s, ok := seconds[byKey[key].ID]
			if !ok {
				return
			}
			launch += s
			asked = asked || asking[key]
		}
		var launches Range
		launches.add(g.Looks, asked)
		total.Min += launch * launches.Min
		total.Expected += launch * launches.Expected
		total.Max += launch * launches.Max
	}
	p.Cost.Seconds = &total
}
