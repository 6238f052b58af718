package reporters

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/results"
)

// idleNodes lists nodes of the session without a rank, role or service, in one line; none if all were
// used.
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
		return nil // nothing ran at all, which is reported elsewhere
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

// idleTitle heads the idle nodes.
const idleTitle = "Idle nodes"

// mostIdle is how many idle nodes are named.
const mostIdle = 8
