package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// nominalOf returns the nominal capacity of the links of a site for a launch, and how it is computed; nil
// if the link of its data is unknown.
//
// Ranks of one node use link host, their GPUs nvlink or gpu. Between nodes a link counts if its name is
// that of a driver or device that carries data: once for each device of a node, or for each that its ranks
// own exclusively. A link named as the fabric or the libfabric provider counts once per node. If data flows one way,
// each part of it crosses a link of a sending node and one of a receiving node, and those of the narrower end count.
func nominalOf(doc *results.Document, c *results.Case, l *results.Launch) *results.OfLink {
	ranks := map[string]int{}
	most := 0
	for _, node := range l.Nodes {
		ranks[node]++
		most = max(most, ranks[node])
	}
	sum, terms := 0., []string{}
	add := func(name string, n int) {
		rate := doc.Site.Links[name]
		sum += float64(n) * rate
		terms = append(terms, fmt.Sprintf("%d × %s %s", n, name, quantity.Format(rate, "GB/s")))
	}
	sides := sidesOf(c, l)
	provider, _ := c.Options["provider"].(string)
	for _, name := range slices.Sorted(maps.Keys(doc.Site.Links)) {
		switch {
		case fabric.WithinNodes(name):
		case name == l.Fabric || name == provider && provider != "":
			add(name, narrowest(sides, func(nodes []string) int { return len(nodes) }))
		case len(ranks) > 1:
			n := narrowest(sides, func(nodes []string) int { return devices(doc, l, name, nodes) })
			if n > 0 {
				add(name, n)
			}
		}
	}
	inside := fabric.LinkWithin(
		doc.Site.Links,
		slices.ContainsFunc(l.GPUs, func(gpu string) bool { return gpu != "" }),
	)
	within := inside != ""
	switch {
	case len(ranks) <= 1 && sum > 0:
	case len(ranks) == 1 && within && !l.Simulated:
		add(inside, 1)
	case most > 1 && sum > 0 && within: // some of it need not leave its node
		add(inside, len(ranks))
	case most > 1:
		return nil
	}
	if sum == 0 {
		return nil
	}
	return &results.OfLink{Links: strings.Join(terms, " + "), Nominal: sum}
}

// sidesOf are the nodes of a launch: those that send and those that receive, or all together if each does both.
func sidesOf(c *results.Case, l *results.Launch) [][]string {
	if b, ok := kindOf(c).Behaviour.(workload.OneWay); ok {
		from, to := b.Ends(func(name string) any { return c.Options[name] }, len(l.Nodes))
		if len(from) > 0 && len(to) > 0 {
			return [][]string{nodesOfRanks(l, from), nodesOfRanks(l, to)}
		}
	}
	return [][]string{distinctNodes(l.Nodes)}
}

// nodesOfRanks are the nodes of some ranks of a launch, each once.
func nodesOfRanks(l *results.Launch, ranks []int) (nodes []string) {
	for _, rank := range ranks {
		nodes = append(nodes, l.Nodes[rank])
	}
	return distinctNodes(nodes)
}

func distinctNodes(nodes []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(nodes)))
}

// narrowest is the least number of links of a side.
func narrowest(sides [][]string, links func(nodes []string) int) int {
	least := links(sides[0])
	for _, nodes := range sides[1:] {
		least = min(least, links(nodes))
	}
	return least
}

// devices counts the devices of a link that carry data of a launch, over some of its nodes.
func devices(doc *results.Document, l *results.Launch, link string, nodes []string) (n int) {
	own := map[string]int{} // exclusive NICs of ranks, by node
	for _, s := range l.Bindings {
		if s.Rank < len(l.Nodes) {
			own[l.Nodes[s.Rank]] += len(s.NICs)
		}
	}
	for _, node := range doc.Environment.Nodes {
		if !slices.Contains(nodes, node.Name) {
			continue
		}
		there := 0
		for _, d := range node.RDMA {
			if d.Driver == link || d.Name == link {
				there++
			}
		}
		if there == 0 {
			for _, d := range node.NICs {
				if d.State == "up" && (d.Driver == link || d.Name == link) {
					there++
				}
			}
		}
		if own[node.Name] > 0 {
			there = min(there, own[node.Name])
		}
		n += there
	}
	return n
}

// fillLink sets how much of the site's nominal bandwidth a case reached.
func fillLink(doc *results.Document, metrics *workload.Definitions, c *results.Case) {
	c.Link = nil
	k := kindOf(c)
	m, known := metrics.Metric(c, workload.Bandwidth)
	_, overPath := k.Behaviour.(workload.PathUser)
	if doc.Site == nil || len(doc.Site.Links) == 0 || !measured(c) || !overPath && !k.DeclaresMetrics ||
		!known || m.Unit != "GB/s" {
		return
	}
	for _, l := range byIndex(c.Succeeded()) {
		v, ok := l.Metrics.Get(workload.Bandwidth)
		if !ok {
			continue
		}
		link := nominalOf(doc, c, l)
		if link == nil {
			continue
		}
		link.Share = v / link.Nominal
		if c.Link == nil || c.Link.Share < link.Share {
			c.Link = link
		}
	}
}

// exceedsLinks says that a case measured more than the site's links carry, if so.
func exceedsLinks(doc *results.Document, c *results.Case) results.Reason {
	if c.Link == nil || c.Link.Share <= 1 {
		return results.Reason{}
	}
	return results.Because(results.AboveLinks, results.Text("site", doc.Site.Name),
		results.Number("value", c.Link.Share*c.Link.Nominal, "GB/s"), results.Text("percent", c.Link.Percent()),
		results.Text("links", c.Link.Links), results.Number("nominal", c.Link.Nominal, "GB/s"))
}
