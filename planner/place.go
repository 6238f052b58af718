// Places of cases, and their checks against the cluster.

package planner

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/weir-bench/weir/dsl"
)

// place returns where a case with a number of ranks runs; 0: the number is unknown.
func (t *Table) place(r *dsl.Run, ranks int) Place {
	c, own := t.scenario.Cluster, r.Place
	p := Place{
		Nodes: max(1, c.Nodes), DistinctHosts: c.DistinctHosts, RanksPerNode: own.RanksPerNode, Labels: c.Labels,
		GPUsPerRank: own.GPUsPerRank, NICsPerRank: own.NICsPerRank, CPUsPerRank: own.CPUsPerRank,
	}
	switch {
	case own.Nodes > 0:
		p.Nodes = own.Nodes
	case own.RanksPerNode > 0:
		p.Nodes = max(1, ranks/own.RanksPerNode)
	}
	if own.DistinctHosts != nil {
		p.DistinctHosts = *own.DistinctHosts
	}
	if len(own.Labels) > 0 {
		p.Labels = maps.Clone(own.Labels)
		maps.Copy(p.Labels, c.Labels)
	}
	return p
}

// checkPlace reports places that contradict themselves, the cluster or the number of ranks.
func (t *Table) checkPlace(run *runTable) {
	t.checkAgainstCluster(run.run)
	for r := range run.distinctBy(append(slices.Clone(run.run.Workload.RanksOptions()), "threads")...) {
		t.checkDivision(run.run, r.ranks())
		if threads, ok := r.option("threads").(int64); ok && run.run.Place.CPUsPerRank > 0 &&
			int(threads) > run.run.Place.CPUsPerRank {
			t.fail(run.run.Place.Range("cpus_per_rank"), "Too few processors",
				fmt.Sprintf("A rank of run %q has %d threads, but only %d processors.",
					run.run.Name, threads, run.run.Place.CPUsPerRank),
				"Raise cpus_per_rank to the number of threads, or leave it out.")
		}
	}
}

// checkAgainstCluster reports requirements of a run that contradict the cluster.
func (t *Table) checkAgainstCluster(r *dsl.Run) {
	c, p := t.scenario.Cluster, r.Place
	if p.Nodes > c.Nodes && c.Counted {
		t.fail(p.Range("nodes"), "More nodes than the cluster has",
			fmt.Sprintf("Run %q is placed on %s, but the cluster has only %d.", r.Name,
				plural(p.Nodes, "node"), c.Nodes), "Raise nodes of the cluster, or place the run on fewer.")
	}
	if p.DistinctHosts != nil && !*p.DistinctHosts && c.DistinctHosts {
		t.fail(p.Range("distinct_hosts"), "Contradicting hosts", "All nodes of the cluster are distinct hosts.",
			"Leave one of the two out.")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Labels)) {
		if all, ok := c.Labels[name]; ok && all != p.Labels[name] {
			t.fail(p.Range("labels."+name), "Contradicting labels",
				fmt.Sprintf("The cluster requires label %s=%s, so no node has %s=%s.", name, all, name,
					p.Labels[name]), "Leave one of the two out.")
		}
	}
}

// checkDivision reports a place that does not fit the number of ranks.
func (t *Table) checkDivision(r *dsl.Run, ranks int) {
	c, p := t.scenario.Cluster, r.Place
	each := p.RanksPerNode
	switch {
	case each > 0 && ranks%each != 0:
		t.fail(p.Range("ranks_per_node"), "Ranks do not divide",
			fmt.Sprintf("Run %q has %s, which is not a multiple of ranks_per_node (%d).", r.Name,
				plural(ranks, "rank"), each),
			"Change one of the two.")
	case each > 0 && p.Nodes > 0 && p.Nodes*each != ranks:
		t.fail(p.Range("ranks_per_node"), "Ranks do not divide",
			fmt.Sprintf("%s with %s each make %d, but run %q has %d.", plural(p.Nodes, "node"), plural(each, "rank"),
				p.Nodes*each, r.Name, ranks), "Leave one of nodes and ranks_per_node out.")
	case each > 0 && p.Nodes == 0 && ranks/each > c.Nodes && c.Counted:
		t.fail(p.Range("ranks_per_node"), "More nodes than the cluster has",
			fmt.Sprintf("%s of run %q, %d on each node, need %s, but the cluster has only %d.",
				plural(ranks, "rank"), r.Name, each, plural(ranks/each, "node"), c.Nodes),
			"Raise nodes of the cluster, or place more ranks on each.")
	case p.Nodes > ranks:
		t.fail(p.Range("nodes"), "More nodes than ranks", fmt.Sprintf("Run %q has %s for %s.", r.Name,
			plural(ranks, "rank"), plural(p.Nodes, "node")), "Place it on fewer nodes, or give it more ranks.")
	case p.Nodes > 0 && ranks%p.Nodes != 0:
		t.fail(p.Range("nodes"), "Ranks do not divide",
			fmt.Sprintf("Run %q has %s, which cannot be spread evenly over %s.", r.Name, plural(ranks, "rank"),
				plural(p.Nodes, "node")), "Change one of the two.")
	default:
		full := t.place(r, ranks).maxOnNode(ranks)
		if need := full * p.GPUsPerRank; need > c.GPUsPerNode && c.GPUsPerNode > 0 {
			t.gpus = max(t.gpus, need)
			t.warn(p.Range("gpus_per_rank"), "More GPUs than gpus_per_node",
				fmt.Sprintf("%s of run %q on a node need %s, but gpus_per_node of the cluster is %d.",
					plural(full, "rank"), r.Name, plural(need, "GPU"), c.GPUsPerNode),
				dsl.Hint(fmt.Sprintf("Each node must then have %d. To need fewer, spread the ranks over more nodes.",
					need)))
		}
	}
}

// maxOnNode returns the largest number of ranks on a node.
func (p Place) maxOnNode(ranks int) int { return (ranks + p.Nodes - 1) / p.Nodes }

// String describes the required cluster.
func (c Cluster) String() string {
	s := hosts(c.Nodes, c.DistinctHosts)
	if c.GPUsPerNode > 0 {
		s += fmt.Sprintf(", %s each", plural(c.GPUsPerNode, "GPU"))
	}
	s += c.resources()
	s += labelled(c.Labels)
	if c.Exclusive {
		s += ", shared with no other session"
	}
	return s
}

// String describes the placement.
func (p Place) String() string {
	s := hosts(p.Nodes, p.DistinctHosts)
	if p.RanksPerNode > 0 {
		s += fmt.Sprintf(", %s each", plural(p.RanksPerNode, "rank"))
	}
	s += labelled(p.Labels)
	var own []string
	for _, n := range []struct {
		n    int
		what string
	}{{p.GPUsPerRank, "GPU"}, {p.NICsPerRank, "NIC"}, {p.CPUsPerRank, "CPU"}} {
		if n.n > 0 {
			own = append(own, plural(n.n, n.what))
		}
	}
	if len(own) > 0 {
		s += ", " + strings.Join(own, ", ") + " for each rank"
	}
	return s
}

func hosts(nodes int, distinct bool) string {
	s := plural(max(1, nodes), "node")
	if distinct {
		s += " on distinct hosts"
	}
	return s
}

func labelled(labels map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, name+"="+textWord(labels[name]))
	}
	if len(all) == 0 {
		return ""
	}
	return ", labelled " + strings.Join(all, " ")
}

// placeText describes where the cases of a run go, if it differs from the cluster; otherwise "".
func (c Cluster) placeText(cases []*Case) string {
	var texts []string
	all := Place{Nodes: max(1, c.Nodes), DistinctHosts: c.DistinctHosts, Labels: c.Labels}
	for _, c := range cases {
		if text := c.Place.String(); !reflect.DeepEqual(c.Place, all) && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; or ")
}
