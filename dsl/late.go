package dsl

import "github.com/hashicorp/hcl/v2"

// late says whether reading the scenario has taken longer than allowed, which it reports
// once.
func (l *loader) late(at hcl.Range) bool {
	if l.all.late || !l.all.options.Deadline.At(at) {
		return l.all.late
	}
	l.all.late = true
	d := l.all.options.Deadline.Error()
	d.Extra = Hint("Write less, or allow more by --plan-timeout.")
	l.diags = append(l.diags, d)
	return true
}
