package reporters

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// oneHostTitle heads the nodes that are one host.
const oneHostTitle = "Nodes on one host"

// oneHost lists nodes that had ranks of the same launch, but are on one host, so that nothing crossed a network.
func oneHost(doc *results.Document) []string {
	host := map[string]string{}
	for _, n := range doc.Environment.Nodes {
		host[n.Name] = cmp.Or(n.SameHost, n.Name)
	}
	cases := map[string]map[string]bool{}
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			for _, names := range together(l.Nodes, host) {
				if cases[names] == nil {
					cases[names] = map[string]bool{}
				}
				cases[names][c.Key] = true
			}
		}
	}
	var lines []string
	for _, names := range slices.Sorted(maps.Keys(cases)) {
		lines = append(lines, fmt.Sprintf("nodes %s are one host: nothing between them crosses a network (%s)",
			plain(names), plural(len(cases[names]), "case")))
	}
	return lines
}

// together returns the names of nodes that share a host, for each host with several of them.
func together(nodes []string, host map[string]string) (all []string) {
	on := map[string][]string{}
	for _, n := range slices.Compact(slices.Sorted(slices.Values(nodes))) {
		if host[n] != "" {
			on[host[n]] = append(on[host[n]], n)
		}
	}
	for _, names := range on {
		if last := len(names) - 1; last > 0 {
			all = append(all, strings.Join(names[:last], ", ")+" and "+names[last])
		}
	}
	return all
}
