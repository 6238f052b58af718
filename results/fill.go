package results

// fill replaces nil lists and maps by empty ones.
func (d *Document) fill() {
	list(&d.Session.Argv)
	dict(&d.Scenario.Variables)
	list(&d.Environment.Nodes)
	for i := range d.Environment.Nodes {
		n := &d.Environment.Nodes[i]
		list(&n.GPUs)
		list(&n.NICs)
		dict(&n.Fabrics)
	}
	list(&d.Checks)
	list(&d.Cases)
	for _, c := range d.Cases {
		c.fill()
	}
	list(&d.Assertions)
	for _, a := range d.Assertions {
		list(&a.Looks)
	}
	if d.Baseline != nil {
		list(&d.Baseline.Cases)
		for i := range d.Baseline.Cases {
			list(&d.Baseline.Cases[i].Launches)
		}
	}
	for i := range d.Metrics {
		list(&d.Metrics[i].Definitions)
	}
	dict(&d.Summary.Cases)
	dict(&d.Summary.Assertions)
}

func (c *Case) fill() {
	dict(&c.Axes)
	list(&c.AxisOrder)
	dict(&c.Options)
	dict(&c.Env)
	list(&c.Launches)
	for _, l := range c.Launches {
		list(&l.Nodes)
		list(&l.Samples)
	}
	list(&c.Assertions)
	for _, a := range c.Assertions {
		list(&a.Looks)
	}
}

func list[T any](p *[]T) {
	if *p == nil {
		*p = []T{}
	}
}

func dict[K comparable, V any](p *map[K]V) {
	if *p == nil {
		*p = map[K]V{}
	}
}
