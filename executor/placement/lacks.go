package placement

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// maxListed is the number of nodes with reasons in a message.
const maxListed = 8

// tooFewNodes describes why too few nodes are available: missing nodes, mismatches of others, or shared hosts.
func (c *Cluster) tooFewNodes(d Demand, fit []string, refused map[string][]string) []string {
	var lacks []string
	all := c.Names()
	if have := c.countHosts(all, d.DistinctHosts); have < d.Nodes {
		lacks = []string{
			NodesNeeded(d.Nodes, have, d.DistinctHosts) + c.sharedHosts(all, d) + c.lostText() + c.launcherHint(),
		}
	} else if have := c.countHosts(fit, d.DistinctHosts); have > 0 {
		lacks = []string{
			NodesNeeded(d.Nodes, have, d.DistinctHosts) + " that meet the requirements" + c.sharedHosts(fit, d),
		}
	}
	for i, name := range slices.Sorted(maps.Keys(refused)) {
		if i == maxListed {
			return append(lacks, fmt.Sprintf("and %d further nodes", len(refused)-i))
		}
		lacks = append(lacks, refused[name]...)
	}
	return lacks
}

// NodesNeeded describes too few nodes.
func NodesNeeded(need, have int, distinct bool) string {
	what := "nodes"
	if distinct {
		what = "nodes on distinct hosts"
	}
	return fmt.Sprintf("%s (needed: %d, there: %d)", what, need, have)
}

// launcherHint tells users of a session on this host alone how to use others.
func (c *Cluster) launcherHint() string {
	if !c.Local || len(c.Nodes) > 1 {
		return ""
	}
	return "; give others with --hosts (ssh), --launcher or --etcd"
}

func (c *Cluster) lostText() (text string) {
	for i, name := range slices.Sorted(maps.Keys(c.Lost)) {
		if i == maxListed {
			return text + ", …"
		}
		text += fmt.Sprintf(", node %s was lost: %s", name, c.Lost[name])
	}
	return text
}

// sharedHosts names nodes that share a host, if hosts must be distinct.
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
			if len(same) > maxListed {
				same = append(same[:maxListed:maxListed], "…")
			}
			return ": " + strings.Join(same, ", ") + " are one host"
		}
	}
	return ""
}

// countHosts is the number of nodes, or of hosts if they must be distinct.
func (c *Cluster) countHosts(nodes []string, distinct bool) int {
	if !distinct {
		return len(nodes)
	}
	hosts := map[string]bool{}
	for _, name := range nodes {
		hosts[c.Nodes[name].Host] = true
	}
	return len(hosts)
}

// whyMoved is why a launch does not use a node any more.
func (c *Cluster) whyMoved(name string, refused map[string][]string) string {
	if _, here := c.Nodes[name]; !here {
		return "its agent is gone"
	}
	return strings.Join(refused[name], "; ")
}

// Choose chooses the fabric of ranks on these nodes.
func (c *Cluster) Choose(needs workload.Demand, ranks []string) fabric.Choice {
	var nodes []results.Node
	for _, name := range nodesOf(ranks) {
		n := c.Nodes[name].Node
		n.Name = name
		nodes = append(nodes, n)
	}
	return fabric.Choose(needs.OfFabric(), nodes)
}

// Lacks describes what the nodes of ranks lack besides the demand: the chosen fabric, and the NUMA node of buffers.
func (c *Cluster) Lacks(needs workload.Demand, ranks []string) (lacks []string) {
	name := c.Choose(needs, ranks).Fabric
	for _, node := range nodesOf(ranks) {
		if f := c.Nodes[node].Node.Fabrics[name]; name != "" && !f.Available {
			lacks = append(lacks, fabricMissing(name, node, f))
		} else if why := f.Details[fabric.VRAM]; needs.GPU && why != "" && why != fabric.HasVRAM {
			lacks = append(lacks, fmt.Sprintf("memory of GPUs over fabric %s on node %s: %s", name, node, why))
		}
		if why := numaMissing(needs.NUMA, node, c.Nodes[node].Node.NUMA); why != "" {
			lacks = append(lacks, why)
		}
	}
	return lacks
}

func nodesOf(ranks []string) []string { return slices.Compact(slices.Sorted(slices.Values(ranks))) }

func fabricMissing(fabric, node string, f results.Fabric) string {
	reason := f.Reason
	if reason == "" {
		reason = "this weir does not have it"
	}
	return fmt.Sprintf("fabric %s on node %s: %s", fabric, node, reason)
}

// numaMissing describes that a node lacks the NUMA node of a case's buffers; "": it has it, or its NUMA nodes are
// unknown.
func numaMissing(want option.Placement, node string, there []results.NUMANode) string {
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
