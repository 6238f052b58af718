package results

import "testing"

// Launches that count for the gates of their case only are discarded for everybody else, and the case itself stays.
func TestUndisturbed(t *testing.T) {
	launch := func(d *Disturbance) *Launch { return &Launch{Status: OK, Disturbance: d} }
	kept := &Disturbance{Cause: Waited, Share: 0.5, Text: "it waited"}
	borne := &Disturbance{Cause: Waited, Share: 0.5, Text: "it waited", Tolerated: true}
	calm := &Case{Key: "a", Status: OK, Launches: []*Launch{launch(nil), launch(kept)}}
	busy := &Case{Key: "b", Status: OK, Launches: []*Launch{launch(nil), launch(borne)}}
	all := &Case{Key: "c", Status: OK, Launches: []*Launch{launch(borne), launch(borne)}}
	doc := &Document{Cases: []*Case{calm, busy, all}}
	seen := doc.Undisturbed().Cases
	if seen[0] != calm || len(seen[1].Succeeded()) != 1 ||
		seen[1].LastDiscardReason() != "disturbed; it counts for the bounds of its own session only: it waited" ||
		!seen[2].AllDiscarded() {
		t.Errorf("%+v", seen)
	}
	if len(busy.Succeeded()) != 2 || busy.Discarded() != 0 || doc.Cases[1] != busy {
		t.Error("the document itself has changed")
	}
}

func TestExhausted(t *testing.T) {
	for _, c := range []struct {
		discarded, counted, look int
		want                     bool
	}{{2, 0, 1, false}, {3, 0, 1, true}, {3, 3, 3, false}, {4, 3, 3, true}, {4, 0, 5, false}, {5, 0, 5, true}} {
		k := &Case{}
		for range c.discarded {
			k.Launches = append(k.Launches, &Launch{Discarded: "busy"})
		}
		for range c.counted {
			k.Launches = append(k.Launches, &Launch{})
		}
		if got := k.Exhausted(c.look); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
