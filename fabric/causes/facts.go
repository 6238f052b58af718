package causes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// facts are the kinds of evidence that need more than one member of a document.
var facts = map[string]func(doc *results.Document, c *results.Case) []string{
	"one-node":               oneNode,
	"no-rdma-device":         noDevice,
	"software-beside-rdma":   softwareBesideRDMA,
	"emulated":               emulated,
	"fewer-devices":          fewerDevices,
	"memory-on-another-node": farMemory,
	"disturbed":              disturbed,
	"unsteady":               unsteady,
	"ignored-variable":       ignoredVariable,
	"small-requests":         smallRequests,
}

// nodesOf are the nodes of the case's launches, each once.
func nodesOf(c *results.Case) []string {
	var all []string
	for _, l := range c.Launches {
		all = append(all, l.Nodes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// devices are the active RDMA devices of a node.
func devices(doc *results.Document, node string) (active []results.RDMA) {
	for _, n := range doc.Environment.Nodes {
		if n.Name == node {
			for _, d := range n.RDMA {
				if d.Active() {
					active = append(active, d)
				}
			}
		}
	}
	return active
}

// data are the transports that carried data, each once.
func data(c *results.Case) (all []results.Transport) {
	for _, l := range c.Launches {
		for _, t := range l.Transports {
			if t.Use == results.DataUse && !slices.ContainsFunc(all, func(o results.Transport) bool {
				return o.Name == t.Name && o.Device == t.Device
			}) {
				all = append(all, t)
			}
		}
	}
	return all
}

func oneNode(doc *results.Document, c *results.Case) []string {
	nodes := nodesOf(c)
	if len(nodes) != 1 || len(doc.Environment.Nodes) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("all ranks ran on node %s, and the session has %d nodes", nodes[0],
		len(doc.Environment.Nodes))}
}

func noDevice(doc *results.Document, c *results.Case) (seen []string) {
	nodes := nodesOf(c)
	if len(nodes) < 2 {
		return nil
	}
	for _, node := range nodes {
		if len(devices(doc, node)) == 0 {
			seen = append(seen, "node "+node+" has no active RDMA device")
		}
	}
	return seen
}

// software matches transports that a processor carries through the kernel's network stack.
var software = []string{"tcp", "sockets", "udp"}

func softwareBesideRDMA(doc *results.Document, c *results.Case) (seen []string) {
	for _, t := range data(c) {
		name, _, _ := strings.Cut(t.Name, ";")
		if !slices.Contains(software, name) {
			continue
		}
		for _, node := range nodesOf(c) {
			if active := devices(doc, node); len(active) > 0 {
				seen = append(seen, fmt.Sprintf("data went over %s although node %s has RDMA device %s", t.Name, node,
					active[0].Name))
			}
		}
	}
	return seen
}

func emulated(_ *results.Document, c *results.Case) (seen []string) {
	for _, t := range data(c) {
		if t.Emulated {
			seen = append(seen, fmt.Sprintf("a processor at the other end copied what %s carried", t.Name))
		}
	}
	return seen
}

func fewerDevices(doc *results.Document, c *results.Case) (seen []string) {
	used := map[string]bool{}
	for _, t := range data(c) {
		device, _, _ := strings.Cut(t.Device, ":")
		used[device] = true
	}
	for _, node := range nodesOf(c) {
		count := 0
		for _, d := range devices(doc, node) {
			if used[d.Name] {
				count++
			}
		}
		if there := len(devices(doc, node)); count > 0 && count < there {
			seen = append(seen, fmt.Sprintf("%d of %d active RDMA devices of node %s carried data", count, there, node))
		}
	}
	return seen
}

func farMemory(doc *results.Document, c *results.Case) (seen []string) {
	for _, l := range c.Launches {
		for _, m := range l.MemoryNodes {
			for _, rank := range m.Ranks {
				if rank >= len(l.Nodes) {
					continue
				}
				for _, t := range data(c) {
					device, _, _ := strings.Cut(t.Device, ":")
					for _, d := range devices(doc, l.Nodes[rank]) {
						if d.Name == device && d.NUMA != nil && *d.NUMA >= 0 && *d.NUMA != m.Node {
							seen = append(seen, fmt.Sprintf("rank %d has its buffers on NUMA node %d, and %s is on node %d",
								rank, m.Node, d.Name, *d.NUMA))
						}
					}
				}
			}
		}
	}
	return seen
}

func disturbed(_ *results.Document, c *results.Case) []string {
	count, worst := 0, &results.Disturbance{}
	for _, l := range c.Launches {
		if l.Disturbance != nil && l.Usable() {
			if count++; l.Disturbance.Share >= worst.Share {
				worst = l.Disturbance
			}
		}
	}
	if count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("disturbed launches that count: %d, the worst: %s", count, worst.Text)}
}

func unsteady(_ *results.Document, c *results.Case) []string {
	if c.WarmUp == nil {
		return nil
	}
	return []string{fmt.Sprintf("at its beginning (%d of %d parts) a launch has %.0f %% of the bandwidth of the rest",
		c.WarmUp.Pieces, c.WarmUp.Of, 100*c.WarmUp.Ratio)}
}

func ignoredVariable(_ *results.Document, c *results.Case) (seen []string) {
	for _, l := range c.Launches {
		for _, v := range l.Ignored {
			if !unread(c, l, v.Name) {
				seen = append(seen, v.String())
			}
		}
	}
	return seen
}

// small is the size of a block in bytes up to which latency decides the bandwidth of a single request.
const small = 64 << 10

// smallRequests is evidence where one small request is under way at a time.
func smallRequests(_ *results.Document, c *results.Case) []string {
	text, _ := c.Options["block_size"].(string)
	size, err := quantity.ParseSize(text)
	if err != nil || size >= small || fmt.Sprint(c.Options["in_flight"]) != "1" {
		return nil
	}
	return []string{fmt.Sprintf("one request of %s is under way at a time (in_flight 1)", text)}
}
