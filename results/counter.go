package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Counter is a node's error counter that moved while a launch ran there: from before its first process
// started until after its last ended.
type Counter struct {
	Node string `json:"node"`
	// Device is the counted device: package 0, mc0, eth0, mlx5_0:1. In parentheses are other names of the same
	// hardware.
	Device string `json:"device" doc:"The counted device, and in parentheses other names of the same hardware."`
	Name   string `json:"name" doc:"As the kernel calls it."`
	Class  string `json:"class" doc:"throttle: processors were slowed down; memory: it erred; link: it was down, was trained again or damaged what it carried; recovered: dropped, resent or refused packets, which explain a slow launch and spoil none." schema:"enum=throttle|memory|link|recovered"`
	// events, but for CounterLimited: CPUs
	By uint64 `json:"by" doc:"Events; CPUs, of cpus_limited_below_base." schema:"minimum=1"`
}

// The classes of counters.
const (
	// ThrottleClass: processors were slowed down, because of heat, current or power.
	ThrottleClass = "throttle"
	// MemoryClass: memory gave back other bits than were written, corrected or not.
	MemoryClass = "memory"
	// LinkClass: a link was down, was trained again, or damaged what it carried.
	LinkClass = "link"
	// RecoveredClass: events that paths recover from, especially under load: dropped, resent or refused
	// packets. They may explain a slow launch and invalidate none.
	RecoveredClass = "recovered"
)

// CounterLimited is the number of CPUs that may not run at their base frequency.
const CounterLimited = "cpus_limited_below_base"

// String is the counter with its change.
func (c Counter) String() string {
	return fmt.Sprintf("%s of %s on node %s moved by %d", c.Name, c.Device, c.Node, c.By)
}

// Of reports whether the counter belongs to a device with this name in a fabric's library, with or without
// a port: "mlx5_0:1".
func (c Counter) Of(device string) bool {
	bare := func(name string) string {
		name, _, _ = strings.Cut(strings.Trim(name, "(),"), ":")
		return name
	}
	return slices.ContainsFunc(strings.Fields(c.Device), func(name string) bool { return bare(name) == bare(device) })
}

// SortCounters sorts counters in the order of documents.
func SortCounters(list []Counter) {
	slices.SortFunc(list, func(a, b Counter) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Device, b.Device), cmp.Compare(a.Name, b.Name))
	})
}
