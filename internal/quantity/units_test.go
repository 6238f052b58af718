package quantity

import "testing"

// Every listed unit is read, in its dimension, and no unit is missing.
func TestListedUnitsAreRead(t *testing.T) {
	n := 0
	for _, g := range Units() {
		for _, symbol := range g.Symbols {
			n++
			if q, err := Parse("2 " + symbol); err != nil || q.Dim != g.Dim {
				t.Errorf("2 %s is a %s: %v", symbol, q.Dim, err)
			}
		}
	}
	if n != len(units)-1 { // a plain number has no symbol
		t.Errorf("%d of %d units are listed", n, len(units)-1)
	}
}
