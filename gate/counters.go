package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/results"
)

// mostCounters is how many counters a message names.
const mostCounters = 3

// hardwareErrors returns the node counters that moved and make a measurement unusable: a throttled
// processor, memory errors, link errors. One event is enough, because a counter does not show how long it
// had an effect.
func hardwareErrors(launches []*results.Launch) results.Reason {
	var moved []results.Value
	where := -1
	for _, l := range launches {
		for _, c := range l.Counters {
			if !affects(l, c) {
				continue
			}
			if where < 0 {
				where = l.Index
			}
			text := fmt.Sprintf("%s (%s)", c, c.Class)
			if l.Index != where {
				text += " in " + results.LaunchName(l.Index)
			}
			moved = append(moved, results.Text("counter", text))
		}
	}
	if len(moved) == 0 {
		return results.Reason{}
	}
	return results.Because(results.NodeTrouble, moved...).At(where)
}

// operationsFailed says why single operations of launches failed, if any did.
func operationsFailed(sources []*source) results.Reason {
	count := map[string]int{}
	for _, s := range sources {
		for _, l := range s.launches {
			for _, c := range l.Errors {
				count[c.Text] += c.Count
			}
		}
	}
	texts := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a, b))
	})
	if len(texts) == 0 {
		return results.Reason{}
	}
	var all []results.Value
	for _, text := range texts {
		cause := results.Count("cause", count[text], "")
		cause.Text = text
		all = append(all, cause)
	}
	return results.Because(results.OperationsFailed, all...)
}

// counterNote lists the other counters that moved during launches. They invalidate nothing, but may
// explain a slow launch.
func counterNote(sources []*source) results.Reason {
	most := map[results.Counter]uint64{} // by counter without By; the largest of any case
	for _, s := range sources {
		of := map[results.Counter]uint64{}
		for _, l := range s.launches {
			for _, c := range l.Counters {
				k := c
				k.By = 0
				of[k] += c.By
				most[k] = max(most[k], of[k])
			}
		}
	}
	total := slices.Collect(maps.Keys(most))
	if len(total) == 0 {
		return results.Reason{}
	}
	results.SortCounters(total)
	var moved []results.Value
	for _, c := range total {
		c.By = most[c]
		moved = append(moved, results.Text("counter", c.String()))
	}
	return results.Because(results.CountersMoved, moved...)
}

// affects reports whether a counter belongs to something that the launch's numbers depend on. A link does,
// unless the data is known to have used another path: memory, or devices named by the library.
func affects(l *results.Launch, c results.Counter) bool {
	switch c.Class {
	case results.ThrottleClass, results.MemoryClass:
		return true
	case results.LinkClass:
		return linked(l, c)
	}
	return false
}

func linked(l *results.Launch, c results.Counter) bool {
	if fabric.WithinHost(l.Fabric, l.Nodes) {
		return false
	}
	named := false
	for _, t := range l.Transports {
		if !t.Data() {
			continue
		}
		if t.Device == "" || t.Opaque || c.Of(t.Device) {
			return true
		}
		named = true
	}
	return !named
}
