package results

// Simulated reports whether a launch came from the simulated engine, by the launches and the session.
func (d *Document) Simulated() bool {
	if d.Session.Simulated {
		return true
	}
	for _, c := range d.Cases {
		if c.Simulated() {
			return true
		}
	}
	return false
}

// Simulated reports whether a launch of the case was simulated.
func (c *Case) Simulated() bool {
	return c.count(func(l *Launch) bool { return l.Simulated }) > 0
}

// Retried is the number of launches of the case that failed and were retried.
func (c *Case) Retried() int {
	return c.count(func(l *Launch) bool { return l.Retried })
}

// Succeeded returns the successful launches of the case, without retried and discarded ones.
func (c *Case) Succeeded() []*Launch {
	var out []*Launch
	for _, l := range c.Launches {
		if l.Status == OK && l.Usable() {
			out = append(out, l)
		}
	}
	return out
}

// Resumed is the number of launches made by an earlier session.
func (d *Document) Resumed() int {
	n := 0
	for _, c := range d.Cases {
		n += c.count(func(l *Launch) bool { return l.Resumed })
	}
	return n
}

func (c *Case) count(which func(*Launch) bool) int {
	n := 0
	for _, l := range c.Launches {
		if which(l) {
			n++
		}
	}
	return n
}
