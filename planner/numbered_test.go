package planner

import (
	"strings"
	"testing"
)

const numbered = `scenario: s
services:
  web: {SERVICE, command: [x]}
CLUSTER
runs:
  a:
    workload: command
    services: [web]
    options:
      roles:
        c: {command: [x], after: [s]}
        s: {ROLE, command: [x], ends: with c}
    PLACE
`

// A role or a service on a node that the scenario does not require is an error at its place,
// regardless of the session's nodes.
func TestNodesOfRolesAndServicesAreThere(t *testing.T) {
	for _, c := range []struct {
		service, role, cluster, place string
		line                          int // 0: no error
		says, hint                    string
	}{
		{"node: 0", "node: 1", "", "launches: 1", 12, `node 1 (counted from 0), but run "a" has 1 node`,
			"Add cluster: {nodes: 2}"},
		{"node: 0", "node: 2", "cluster: {nodes: 2}", "launches: 1", 12, "has 2 nodes", "nodes of the cluster to 3"},
		{"node: 0", "node: 1", "cluster: {nodes: 2}", "place: {nodes: 1}", 12, "has 1 node", "place of the run to 2"},
		{"node: 0", "node: 1", "cluster: {nodes: 2}", "place: {ranks_per_node: 2}", 12, "has 1 node", "ranks_per_node"},
		{"node: 0", "node: '${axis.n}'", "cluster: {nodes: 2}", "sweep: {n: [0, 1, 3]}", 12, "on node 3", "to 4"},
		{"node: 7", "node: 0", "cluster: {nodes: 2}", "launches: 1", 3, "Service web is on node 7", "to 8"},
		{"node: 1", "node: 0", "", "launches: 1", 3, "the scenario has 1 node", "cluster: {nodes: 2}"},
		{"node: 1", "node: 1", "cluster: {nodes: 2}", "launches: 1", 0, "", ""},
		{"node: 1", "node: 1", "", "place: {nodes: 2}", 0, "", ""},
	} {
		text := strings.NewReplacer("SERVICE", c.service, "ROLE", c.role, "CLUSTER", c.cluster, "PLACE", c.place).
			Replace(numbered)
		if c.line == 0 {
			build(t, text)
			continue
		}
		mentions(t, refuse(t, text), c.line, c.says, c.hint)
	}
}
