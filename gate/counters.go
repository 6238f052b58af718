package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/fabric"
	"weir/results"
)

// mostCounters is how many counters a message names.
const mostCounters = 3

// troubled says which counters of the nodes moved that make what a case measured a
// number of something else than it asks about: a throttled processor, memory that
// errs, a link that errs. A single event counts: how many launches' worth of harm
// it did cannot be told from the counter.
func troubled(launches []*results.Launch) string {
	var moved []string
	where := -1
	for _, l := range launches {
		for _, c := range l.Counters {
			if !spoils(l, c) {
				continue
			}
			if where < 0 {
				where = l.Index
			}
			moved = append(moved, fmt.Sprintf("%s (%s)", c, c.Class))
			if l.Index != where {
				moved[len(moved)-1] += " in " + results.LaunchName(l.Index)
			}
		}
	}
	if len(moved) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s; mend the node or leave it out, and run again", results.LaunchName(where), few(moved))
}

// operationsFailed says why single operations of launches failed; "" if none did.
func operationsFailed(sources []*source) string {
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
	for i, text := range texts {
		texts[i] = fmt.Sprintf("%d × %s", count[text], text)
	}
	if len(texts) == 0 {
		return ""
	}
	return "; failed: " + few(texts)
}

// aside says which other counters moved during launches: they spoil nothing, but may be
// why a launch was slow.
func aside(sources []*source) string {
	most := map[results.Counter]uint64{} // by counter, without its By; of the case that has the most
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
		return ""
	}
	results.SortCounters(total)
	var moved []string
	for _, c := range total {
		c.By = most[c]
		moved = append(moved, c.String())
	}
	return "; meanwhile " + few(moved)
}

func few(texts []string) string {
	if more := len(texts) - mostCounters; more > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(texts[:mostCounters], ", "), more)
	}
	return strings.Join(texts, ", ")
}

// spoils says whether a counter that moved is of something that the launch's numbers
// depend on. A link does so unless its data is known to have taken another way:
// memory, or devices that its library names.
func spoils(l *results.Launch, c results.Counter) bool {
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
