package placement

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"weir/fabric"
	"weir/results"
	"weir/workload"
)

// mostRefused is of how many nodes a refusal says why they do not do.
const mostRefused = 8

// shortOf says why too few nodes can be had: nodes that there are not, what keeps others
// from being used, or that they are nodes of one host.
func (c *Cluster) shortOf(d Demand, fit []string, refused map[string][]string) []string {
	var lacks []string
	all := c.Names()
	if have := c.apart(all, d.DistinctHosts); have < d.Nodes {
		lacks = []string{
			NodesNeeded(d.Nodes, have, d.DistinctHosts) + c.sharedHosts(all, d) + c.lostText() + c.othersText(),
		}
	} else if have := c.apart(fit, d.DistinctHosts); have > 0 {
		lacks = []string{
			NodesNeeded(d.Nodes, have, d.DistinctHosts) + " that have what is asked for" + c.sharedHosts(fit, d),
		}
	}
	for i, name := range slices.Sorted(maps.Keys(refused)) {
		if i == mostRefused {
			return append(lacks, fmt.Sprintf("and so on for %d further nodes", len(refused)-i))
		}
		lacks = append(lacks, refused[name]...)
	}
	return lacks
}

// NodesNeeded says that there are too few nodes.
func NodesNeeded(need, have int, distinct bool) string {
	what := "nodes"
	if distinct {
		what = "nodes on distinct hosts"
	}
	return fmt.Sprintf("%s (needed: %d, there: %d)", what, need, have)
}

// othersText says how a session of this host alone comes to others.
func (c *Cluster) othersText() string {
	if !c.Local || len(c.Nodes) > 1 {
		return ""
	}
	return "; --hosts names others to reach by ssh, and there are --launcher and --etcd"
}

// lostText says which nodes there were, and why they are not there any more.
func (c *Cluster) lostText() (text string) {
	for i, name := range slices.Sorted(maps.Keys(c.Lost)) {
		if i == mostRefused {
			return text + ", …"
		}
		text += fmt.Sprintf(", node %s was lost: %s", name, c.Lost[name])
	}
	return text
}

// sharedHosts names nodes that are one host, where hosts must be distinct.
func (c *Cluster) sharedHosts(nodes []string, d Demand) string {
	if !d.DistinctHosts {
		return ""
	}
	byHost := map[string][]string{}
	for _, name := range nodes {
		host := c.Nodes[name].Host
		byHost[host] = append(byHost[host], name)
	}
	for _, first := range nodes {
		if same := byHost[c.Nodes[first].Host]; len(same) > 1 {
			if len(same) > mostRefused {
				same = append(same[:mostRefused:mostRefused], "…")
			}
			return ": " + strings.Join(same, ", ") + " are one host"
		}
	}
	return ""
}

// apart counts nodes, or if hosts must be distinct their hosts.
func (c *Cluster) apart(nodes []string, distinct bool) int {
	if !distinct {
		return len(nodes)
	}
	hosts := map[string]bool{}
	for _, name := range nodes {
		hosts[c.Nodes[name].Host] = true
	}
	return len(hosts)
}

// whyMoved is why a launch is not on a node any more.
func (c *Cluster) whyMoved(name string, refused map[string][]string) string {
	if _, here := c.Nodes[name]; !here {
		return "its agent is gone"
	}
	return strings.Join(refused[name], "; ")
}

// Choose resolves the fabric of ranks on these nodes.
func (c *Cluster) Choose(needs workload.Demand, ranks []string) fabric.Choice {
	var nodes []results.Node
	for _, name := range nodesOf(ranks) {
		n := c.Nodes[name].Node
		n.Name = name
		nodes = append(nodes, n)
	}
	return fabric.Choose(needs, nodes)
}

// Lacks is what the nodes on which ranks are placed lack for a case, besides what its
// demand says: the fabric that is chosen for it, and the NUMA node of its buffers.
func (c *Cluster) Lacks(needs workload.Demand, ranks []string) (lacks []string) {
	name := c.Choose(needs, ranks).Fabric
	for _, node := range nodesOf(ranks) {
		if f := c.Nodes[node].Node.Fabrics[name]; name != "" && !f.Available {
			lacks = append(lacks, noFabric(name, node, f))
		} else if why := f.Details[fabric.VRAM]; needs.GPU && why != "" && why != fabric.HasVRAM {
			lacks = append(lacks, fmt.Sprintf("memory of GPUs over fabric %s on node %s: %s", name, node, why))
		}
		if why := noMemoryNode(needs.NUMA, node, c.Nodes[node].Node.NUMA); why != "" {
			lacks = append(lacks, why)
		}
	}
	return lacks
}

func nodesOf(ranks []string) []string { return slices.Compact(slices.Sorted(slices.Values(ranks))) }

func noFabric(fabric, node string, f results.Fabric) string {
	reason := f.Reason
	if reason == "" {
		reason = "this weir does not have it"
	}
	return fmt.Sprintf("fabric %s on node %s: %s", fabric, node, reason)
}

// noMemoryNode says that a node does not have the NUMA node on which a case wants its
// buffers; "": it has, or nobody knows which there are, and the launch will say.
func noMemoryNode(want workload.Placement, node string, there []results.NUMANode) string {
	if want < 0 || len(there) == 0 || slices.ContainsFunc(there,
		func(n results.NUMANode) bool { return n.ID == int(want) }) {
		return ""
	}
	var ids []string
	for _, n := range there {
		ids = append(ids, strconv.Itoa(n.ID))
	}
	return fmt.Sprintf("NUMA node %v on node %s, which has %s", want, node, strings.Join(ids, ", "))
}
