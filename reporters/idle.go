package reporters

import (
	"fmt"
	"strings"

	"weir/results"
)

// idleNodes says which nodes of the session ran no rank, role or service, in one line; none if all ran something.
func idleNodes(doc *results.Document) []string {
	ran := map[string]bool{}
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			for _, node := range l.Nodes {
				ran[node] = true
			}
		}
	}
	for _, s := range doc.Services {
		ran[s.Node] = true
	}
	if len(ran) == 0 {
		return nil // nothing ran anywhere, which is said elsewhere
	}
	var idle []string
	for _, n := range doc.Environment.Nodes {
		if !ran[n.Name] && n.Name != "" {
			idle = append(idle, plain(n.Name))
		}
	}
	switch more := len(idle) - mostIdle; {
	case len(idle) == 0:
		return nil
	case len(idle) == 1:
		return []string{"node " + idle[0] + " ran nothing"}
	case more > 0:
		return []string{fmt.Sprintf("nodes %s and %d more ran nothing", strings.Join(idle[:mostIdle], ", "), more)}
	}
	return []string{"nodes " + strings.Join(idle, ", ") + " ran nothing"}
}

// idleTitle heads what is said of them.
const idleTitle = "Idle nodes"

// mostIdle is how many idle nodes are named.
const mostIdle = 8
