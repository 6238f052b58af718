package dsl

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/grammar"
)

// Cluster is what the scenario needs to run on.
type Cluster struct {
	Nodes         int
	DistinctHosts bool
	GPUsPerNode   int
	Labels        map[string]string // that each node must carry
	Exclusive     bool              // no other session may use the nodes at the same time
	// Counted says that the author gave the number of nodes: then no run may ask for more.
	Counted bool
}

// Place is where the ranks of a run go. A number that is not given is 0.
type Place struct {
	Nodes         int // over which its ranks are spread
	RanksPerNode  int
	DistinctHosts *bool             // nil: as the cluster says
	Labels        map[string]string // that each node must carry besides those of the cluster
	GPUsPerRank   int
	NICsPerRank   int
	CPUsPerRank   int

	ranges map[string]hcl.Range // of the values, and of labels as labels.NAME
}

// Range is the place of one of its keys, and of a label by labels.NAME.
func (p *Place) Range(key string) hcl.Range { return p.ranges[key] }

// The most that places may ask for, so that no sum of them overflows.
const (
	maxNodes   = 100_000
	maxPerNode = 1024
	maxLabels  = 100
)

// labelName is what Kubernetes and Slurm can name things by.
var labelName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_./-]*[A-Za-z0-9_])?$`)

// ValidLabel says whether something may be the name of a node's label.
func ValidLabel(name string) bool { return len(name) <= 100 && labelName.MatchString(name) }

func (l *loader) cluster(content *hcl.BodyContent) Cluster {
	c := Cluster{Nodes: 1}
	inner := l.sectionContent(content, "cluster", schemaOf(grammar.Cluster))
	if inner == nil {
		return c
	}
	if expr := argument(inner, "nodes"); expr != nil {
		c.Nodes, c.Counted = l.count(expr, "nodes", 1, maxNodes), true
	}
	if expr := argument(inner, "distinct_hosts"); expr != nil {
		c.DistinctHosts = l.flag(expr, "distinct_hosts")
	}
	if expr := argument(inner, "gpus_per_node"); expr != nil {
		c.GPUsPerNode = l.count(expr, "gpus_per_node", 0, maxPerNode)
	}
	c.Labels, _ = l.labels(inner)
	if expr := argument(inner, "exclusive"); expr != nil {
		c.Exclusive = l.flag(expr, "exclusive")
	}
	return c
}

// place reads where the ranks of a run go.
func (l *loader) place(content *hcl.BodyContent) Place {
	p := Place{ranges: map[string]hcl.Range{}}
	inner := l.sectionContent(content, "place", schemaOf(grammar.Place))
	if inner == nil {
		return p
	}
	for _, n := range []struct {
		key  string
		to   *int
		most int
	}{
		{"nodes", &p.Nodes, maxNodes}, {"ranks_per_node", &p.RanksPerNode, maxNodes},
		{"gpus_per_rank", &p.GPUsPerRank, maxPerNode}, {"nics_per_rank", &p.NICsPerRank, maxPerNode},
		{"cpus_per_rank", &p.CPUsPerRank, 1 << 16},
	} {
		if expr := argument(inner, n.key); expr != nil {
			*n.to, p.ranges[n.key] = l.count(expr, n.key, 1, n.most), expr.Range()
		}
	}
	if expr := argument(inner, "distinct_hosts"); expr != nil {
		distinct := l.flag(expr, "distinct_hosts")
		p.DistinctHosts, p.ranges["distinct_hosts"] = &distinct, expr.Range()
	}
	var at map[string]hcl.Range
	p.Labels, at = l.labels(inner)
	for name, r := range at {
		p.ranges["labels."+name] = r
	}
	return p
}

// labels reads what nodes must carry; nil if nothing.
func (l *loader) labels(content *hcl.BodyContent) (out map[string]string, at map[string]hcl.Range) {
	entries := l.section(content, "labels")
	if len(entries) > maxLabels {
		l.error(entries[maxLabels].at, "Too many labels",
			fmt.Sprintf("There are %d labels; the most is %d.", len(entries), maxLabels), "")
		return nil, nil
	}
	for _, e := range entries {
		value, ok := l.text(e.expr, "label "+e.name)
		switch {
		case !ValidLabel(e.name):
			l.error(e.at, "Invalid name", fmt.Sprintf("%q is no name of a label.", e.name),
				"Use letters, digits, and _ . / - between them, at most 100 of them.")
			continue
		case !ok:
			continue
		case out == nil:
			out, at = map[string]string{}, map[string]hcl.Range{}
		}
		out[e.name], at[e.name] = value, e.expr.Range()
	}
	return out, at
}

// unite adds what an included file needs to run on.
func (l *loader) unite(c *Cluster, from Cluster, inc *included) {
	c.Nodes, c.Counted = max(c.Nodes, from.Nodes), c.Counted || from.Counted
	c.GPUsPerNode = max(c.GPUsPerNode, from.GPUsPerNode)
	c.DistinctHosts = c.DistinctHosts || from.DistinctHosts
	c.Exclusive = c.Exclusive || from.Exclusive
	for _, name := range slices.Sorted(maps.Keys(from.Labels)) {
		if own, ok := c.Labels[name]; ok && own != from.Labels[name] {
			l.error(inc.at, "Contradicting labels",
				fmt.Sprintf("%s needs nodes with label %s=%s, and another file %s=%s.", inc.file, name,
					from.Labels[name], name, own), "Let both ask for the same, or run them apart.")
			continue
		}
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		c.Labels[name] = from.Labels[name]
	}
}
