package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/fabric"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// nominalOf is what the links of a site can carry of a launch together, and how that is computed; nil:
// no link of the site is known to be what its data took.
//
// Ranks of one node have link host between them, and their GPUs nvlink or gpu. Several nodes have the links whose
// names are those of a driver or of a device that carries data: as many as a node has, or its ranks have to
// themselves. A link that is named as the fabric, or as the provider of libfabric, is one for each node.
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
	provider, _ := c.Options["provider"].(string)
	for _, name := range slices.Sorted(maps.Keys(doc.Site.Links)) {
		switch {
		case fabric.WithinNodes(name):
		case name == l.Fabric || name == provider && provider != "":
			add(name, max(1, len(ranks)))
		case len(ranks) > 1:
			if n := devices(doc, l, name); n > 0 {
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

// devices are how many devices of a link carry data of a launch, over its nodes.
func devices(doc *results.Document, l *results.Launch, link string) (n int) {
	own := map[string]int{} // NICs that ranks have to themselves, by node
	for _, s := range l.Seats {
		if s.Rank < len(l.Nodes) {
			own[l.Nodes[s.Rank]] += len(s.NICs)
		}
	}
	for _, node := range doc.Environment.Nodes {
		if !slices.Contains(l.Nodes, node.Name) {
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

// fillLink sets how much of the links of the site a case reached, and says why that cannot be; "": it can.
func fillLink(doc *results.Document, metrics *workload.Definitions, c *results.Case) string {
	c.Link = nil
	k := kindOf(c)
	m, known := metrics.Metric(c, workload.Bandwidth)
	if doc.Site == nil || len(doc.Site.Links) == 0 || !measured(c) || k.OfCeiling == nil && !k.DeclaresMetrics ||
		!known || m.Unit != "GB/s" {
		return ""
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
	if c.Link == nil || c.Link.Share <= 1 {
		return ""
	}
	return fmt.Sprintf("measured more than the links of site %s carry: %s is %s of %s = %s, where 100 %% is all",
		doc.Site.Name, quantity.Format(c.Link.Share*c.Link.Nominal, "GB/s"), c.Link.Percent(), c.Link.Links,
		quantity.Format(c.Link.Nominal, "GB/s"))
}
