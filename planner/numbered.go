// Roles and services on nodes that do not exist.

package planner

import (
	"fmt"
	"strconv"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/structure"
)

// checkNodeNumbers reports roles and services on a node that their run, or the session, does not have.
func (t *Table) checkNodeNumbers() {
	all := t.nodes()
	for _, run := range t.runs {
		for r := range run.distinctBy(append(run.run.Workload.RanksOptions(), "roles")...) {
			own := t.place(run.run, r.ranks()).Nodes
			t.checkNodes(r, "roles", "Role", own, fmt.Sprintf("run %q has %s", run.run.Name, plural(own, "node")))
		}
		for r := range run.distinctBy("services") {
			t.checkNodes(r, "services", "Service", all, "the scenario has "+plural(all, "node"))
		}
	}
}

// nodes returns how many nodes the scenario requires, by its cluster or by places of its runs.
func (t *Table) nodes() int {
	n := max(1, t.scenario.Cluster.Nodes)
	for _, run := range t.runs {
		for r := range run.distinctBy(run.run.Workload.RanksOptions()...) {
			n = max(n, t.place(run.run, r.ranks()).Nodes)
		}
	}
	return n
}

// checkNodes reports the parts of an option that are on a node with a number of n or more.
func (t *Table) checkNodes(r *row, option, what string, n int, has string) {
	text, _ := r.option(option).(string)
	if text == "" {
		return
	}
	parts, err := structure.Read(text)
	if err != nil {
		return // the option itself reports it
	}
	for _, p := range parts.Pairs {
		node := p.Value.At("node")
		if node == nil {
			continue
		}
		number, err := strconv.Atoi(node.Text)
		if err != nil || number < n {
			continue
		}
		t.fail(r.partOf(option, p.Key, "node"), "No such node",
			fmt.Sprintf("%s %s is on node %d (counted from 0), but %s.", what, p.Key, number, has),
			dsl.Hint(t.moreNodes(r.run, option, number+1)))
	}
}

// moreNodes is the hint how a run, or the session, gets n nodes.
func (t *Table) moreNodes(r *dsl.Run, option string, n int) string {
	c := t.scenario.Cluster
	switch {
	case option == "roles" && r.Place.Nodes > 0 && (c.Nodes >= n || !c.Counted):
		return fmt.Sprintf("Raise nodes in place of the run to %d, or give the role another node.", n)
	case option == "roles" && r.Place.RanksPerNode > 0 && c.Nodes >= n:
		return "Write nodes in place of the run instead of ranks_per_node."
	case c.Counted:
		return fmt.Sprintf("Raise nodes of the cluster to %d, or choose another node.", n)
	}
	return fmt.Sprintf("Add cluster: {nodes: %d} to the scenario, with distinct_hosts: true if they must be different hosts; or remove node.",
		n)
}

// partOf returns the place of a part of an option.
func (t *runTable) partOf(option string, path ...string) hcl.Range {
	for _, c := range t.columns {
		if at, ok := c.PartOf(path...); ok && !c.Env && c.Name == option {
			return at
		}
	}
	return t.run.Range
}
