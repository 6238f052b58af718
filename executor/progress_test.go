package executor

import (
	"testing"
	"time"

	"weir/executor/agent"
	"weir/executor/event"
	"weir/executor/ledger"
	"weir/planner"
	"weir/workload"
)

// A thousand nodes say where they are, and one word is told of it: of the slowest that
// counts anything, of those heard since the word before.
func TestProgressIsToldOfTheSlowestNode(t *testing.T) {
	var told []event.Event
	l := &launched{
		s: &session{ledger: ledger.New(&planner.Plan{}, ledger.Options{Events: func(e event.Event) {
			told = append(told,
				e)
		}})}, g: &ledger.Group{LaunchGroup: &planner.LaunchGroup{ID: "g"}},
		cases: []*planner.Case{{Key: "a"}, {Key: "b"}, {Key: "over"}}, pending: []*pendingCase{
			{parts: make([]*workload.Part, 1)}, {parts: make([]*workload.Part, 1)}, {},
		},
	}
	start := time.Now()
	for tick := range 3 {
		for node := range 1000 {
			p := &agent.Progress{Case: 1, Phase: "run", Done: uint64(1000*tick + node), Total: 9000}
			switch {
			case tick == 1 && node == 700:
				p.Case = 0
			case tick == 1 && node == 800:
				p.Case = 2
			case node == 3:
				p.Done, p.Total = 0, 0
			}
			l.progress(p, start.Add(time.Duration(tick)*200*time.Millisecond+time.Duration(node)*time.Microsecond))
		}
	}
	if len(told) != 3 {
		t.Fatalf("%d words were told of 3 looks of 1000 nodes", len(told))
	}
	for i, want := range []struct {
		key  string
		done uint64
	}{{"b", 0}, {"b", 1}, {"a", 1700}} {
		if told[i].Case != want.key || told[i].Done != want.done {
			t.Errorf("word %d is of case %s at %d, want %s at %d", i, told[i].Case, told[i].Done, want.key, want.done)
		}
	}
}
