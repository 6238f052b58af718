package results

// Simulated says whether some launch came from the simulated engine. It does not
// rest on what the session says of itself alone.
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

// Simulated says whether some launch of the case was simulated.
func (c *Case) Simulated() bool {
	return c.count(func(l *Launch) bool { return l.Simulated }) > 0
}

// Retried is the number of launches of the case that failed and were made again.
func (c *Case) Retried() int {
	return c.count(func(l *Launch) bool { return l.Retried })
}

// Succeeded are the launches of the case that succeeded. One that was made again is
// none of them: that it failed is the infrastructure's matter and shown beside. So is one
// that is void.
func (c *Case) Succeeded() []*Launch {
	var out []*Launch
	for _, l := range c.Launches {
		if l.Status == OK && l.Counts() {
			out = append(out, l)
		}
	}
	return out
}

// Resumed is the number of launches of the document that an earlier session made.
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
