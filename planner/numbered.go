package planner

import (
	"fmt"
	"strconv"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
	"weir/workload"
)

// numbered reports roles and services that name a node which their run, or the session, does not have.
func (t *Table) numbered() {
	all := t.nodes()
	for _, s := range t.sheets {
		work(s.by(s.axesOf(append(s.run.Workload.RanksOptions(), "roles"))), func(i int) bool {
			own := t.place(s.run, s.ranks(i)).Nodes
			t.beyond(s, i, "roles", "Role", own, fmt.Sprintf("run %q has %s", s.run.Name, plural(own, "node")))
			return true
		})
		work(s.by(s.axesOf([]string{"services"})), func(i int) bool {
			t.beyond(s, i, "services", "Service", all, "the scenario has "+plural(all, "node"))
			return true
		})
	}
}

// nodes is how many nodes the scenario asks for, by its cluster or by places of its runs.
func (t *Table) nodes() int {
	n := max(1, t.scenario.Cluster.Nodes)
	for _, s := range t.sheets {
		work(s.by(s.axesOf(s.run.Workload.RanksOptions())), func(i int) bool {
			n = max(n, t.place(s.run, s.ranks(i)).Nodes)
			return true
		})
	}
	return n
}

// beyond reports the parts of an option of a case that are on a node which is not one of the first n.
func (t *Table) beyond(s *sheet, i int, option, what string, n int, has string) {
	text, _ := s.option(option, i).(string)
	if text == "" {
		return
	}
	parts, err := workload.ReadStructure(text)
	if err != nil {
		return // which its option says
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
		t.fail(s.partOf(option, p.Key, "node"), "Node that is not there",
			fmt.Sprintf("%s %s is on node %d, counted from 0, and %s.", what, p.Key, number, has),
			dsl.Hint(t.moreNodes(s.run, option, number+1)))
	}
}

// moreNodes says how a run, or the session, gets n nodes.
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

// partOf is where a part of an option stands.
func (s *sheet) partOf(option string, path ...string) hcl.Range {
	for _, c := range s.settings {
		if at, ok := c.PartOf(path...); ok && !c.Env && c.Name == option {
			return at
		}
	}
	return s.run.Range
}
