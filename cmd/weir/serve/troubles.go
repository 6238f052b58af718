package serve

import (
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// troubles collects from events which launches do not count, and why.
type troubles struct {
	all       []reporters.Trouble
	discarded map[string]int // by case
}

func (t *troubles) add(e event.Event) {
	x := reporters.Trouble{Where: e.Case}
	if e.Launch != nil {
		x.Launch = results.LaunchName(*e.Launch)
	}
	switch {
	case e.Background:
		return
	case e.Type == event.CaseMeasured && e.Discarded != "":
		t.discarded[e.Case]++
		x.What, x.Why = "discarded, to be made again", e.Discarded
	case e.Type == event.CaseMeasured && e.Failure != nil:
		x.What, x.Why = "failed", e.Failure.String()
		if e.Retried {
			x.What = "failed, to be made again"
		}
	case e.Type == event.NodeReady && e.Reason != "":
		x.Where, x.What, x.Why = "node "+e.Node, "ready", e.Reason
	case e.Type == event.NodeLost:
		x.Where, x.What, x.Why = "node "+e.Node, "lost", e.Reason
	default:
		return
	}
	t.all = append(t.all, x)
}
