package executor

import (
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/workload"
)

// A thousand nodes report progress, and one event has the slowest of those that count and have reported since the
// last event.
func TestProgressOfTheSlowestNode(t *testing.T) {
	var events []event.Event
	l := &launchRun{
		s: &session{ledger: ledger.New(&planner.Plan{}, ledger.Options{Events: func(e event.Event) {
			events = append(events,
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
			at := time.Duration(tick)*200*time.Millisecond + time.Duration(node)*time.Microsecond
			l.reportProgress(p, start.Add(at))
		}
	}
	if len(events) != 3 {
		t.Fatalf("%d events for 3 reports of 1000 nodes", len(events))
	}
	for i, want := range []struct {
		key  string
		done uint64
	}{{"b", 0}, {"b", 1}, {"a", 1700}} {
		if events[i].Case != want.key || events[i].Done != want.done {
			t.Errorf("event %d is of case %s at %d, want %s at %d", i, events[i].Case, events[i].Done, want.key,
				want.done)
		}
	}
}
