package gate

import (
	"testing"
)

// What became of a metric is what a comparison says of it, and what only one session
// has measured is not told of.
func TestSinceSaysWhatACompareSays(t *testing.T) {
	base, now := separate([]float64{10, 10.1, 9.9}, []float64{8, 8.1, 7.9})
	p := Since(base, now)
	c, err := Compare(base, now, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Since) == 0 || len(p.Since) != len(c.Effects) {
		t.Fatalf("%d changes, and the comparison has %d effects", len(p.Since), len(c.Effects))
	}
	for i, s := range p.Since {
		e := c.Effects[i]
		if s.Case != e.Case || s.Metric != e.Metric || s.Base.Value != e.Base.Value ||
			s.Change.Value != e.Change.Value {
			t.Errorf("%+v, and the comparison says %+v", s, e)
		}
	}
	now.Cases = nil
	if p := Since(base, now); len(p.Since) != 0 || p.Session != base.Session.ID {
		t.Errorf("of a session without cases: %+v", p)
	}
}
