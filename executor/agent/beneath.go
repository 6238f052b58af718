package agent

import "weir/fabric"

// beneathMax is how much of the beginning of a log may have what a library says when it is made
// ready, and of its end what it says when it ends.
const beneathMax = 256 << 10

// beneath is what the logs of this node's ranks say of the library beneath the fabric's own.
func (l *launch) beneath() map[int][]fabric.Beneath {
	var all map[int][]fabric.Beneath
	for i, m := range l.ranks {
		if m.log == nil || i >= len(l.task.Ranks) {
			continue
		}
		found := fabric.BeneathIn(l.task.launch.Fabric, m.log.ends(beneathMax))
		if len(found) == 0 {
			continue
		}
		if all == nil {
			all = map[int][]fabric.Beneath{}
		}
		all[l.task.Ranks[i]] = found
	}
	return all
}
