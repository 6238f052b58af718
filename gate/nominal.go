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
// own exclusively. A link named as the fabric or the libfabric provider counts once per node.
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

// devices counts the devices of a link that carry data of a launch, over its nodes.
func devices(doc *results.Document, l *results.Launch, link string) (n int) {
	own := map[string]int{} // exclusive NICs of ranks, by node
	for _, s := range l.Bindings {
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
