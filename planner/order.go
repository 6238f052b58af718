package planner

import "slices"

// order sorts the runs so that each comes after those that it needs, and
// otherwise as they stand in the file.
func order(d *draft) {
	var sorted []*draftRun
	placed := map[string]bool{}
	ready := func(r *draftRun) bool {
		for _, n := range r.run.Needs {
			if !placed[n.Run] {
				return false
			}
		}
		return true
	}
	for rest := d.runs; len(rest) > 0; {
		i := slices.IndexFunc(rest, ready) // there is one: cycles were refused
		sorted = append(sorted, rest[i])
		placed[rest[i].run.Name] = true
		rest = slices.Delete(slices.Clone(rest), i, i+1)
	}
	d.runs = sorted
}

// skipDownstream skips what waits for the success of a case that will not run.
// Cases are in execution order, so one pass is enough.
func (p *Plan) skipDownstream() {
	status := map[string]string{}
	for _, c := range p.Cases {
		if c.Status == Planned {
			for _, key := range c.Needs {
				if status[key] != Planned {
					c.skip("needs " + key + ", which does not run")
					break
				}
			}
		}
		status[c.Key] = c.Status
	}
}
