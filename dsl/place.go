// The cluster and the places of runs.

package dsl

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/lazyregexp"
)

// Cluster is the set of nodes that a scenario requires.
type Cluster struct {
	Nodes         int               `key:"nodes"`
	DistinctHosts bool              `key:"distinct_hosts"`
	GPUsPerNode   int               `key:"gpus_per_node"`
	Labels        map[string]string // that each node must carry
	Exclusive     bool              `key:"exclusive"` // no other session may use the nodes at the same time
	NICsPerNode   int
	NICDriver     string           // of the NICs; "": any
	HugePages     map[string]int64 // free bytes that each node must have, by size of a page as 2MiB
	LockedMemory  int64            // bytes that a process must be able to lock; Unlimited; 0: any
	// Counted says that the author set the number of nodes: no run may use more.
	Counted bool
}

// Place says where the ranks of a run go. A number that is not given is 0.
type Place struct {
	Nodes         int               `key:"nodes"` // over which its ranks are spread
	RanksPerNode  int               `key:"ranks_per_node"`
	DistinctHosts *bool             `key:"distinct_hosts"` // nil: as the cluster says
	Labels        map[string]string // required besides those of the cluster
	GPUsPerRank   int               `key:"gpus_per_rank"`
	NICsPerRank   int               `key:"nics_per_rank"`
	CPUsPerRank   int               `key:"cpus_per_rank"`

	ranges map[string]hcl.Range // of each value, and of labels as labels.NAME
}

// Range returns the place of a key, or of a label as labels.NAME.
func (p *Place) Range(key string) hcl.Range { return p.ranges[key] }

// labelName is the common syntax of names in Kubernetes and Slurm.
var labelName = lazyregexp.New(`^[A-Za-z0-9_]([A-Za-z0-9_./-]*[A-Za-z0-9_])?$`)

// ValidLabel reports whether a text is a valid name of a node label.
func ValidLabel(name string) bool { return len(name) <= 100 && labelName().MatchString(name) }

func (l *loader) cluster(content *hcl.BodyContent) Cluster {
	c := Cluster{Nodes: 1}
	if p, ok := l.sectionOf(content, "cluster", grammar.Cluster, &c); ok {
		c.Counted = argument(p.BodyContent, "nodes") != nil
		c.Labels, _ = l.labels(p.BodyContent)
		l.nodeResources(p.BodyContent, &c)
	}
	return c
}

// place reads where the ranks of a run go.
func (l *loader) place(content *hcl.BodyContent) Place {
	out := Place{ranges: map[string]hcl.Range{}}
	p, ok := l.sectionOf(content, "place", grammar.Place, &out)
	if !ok {
		return out
	}
	for name, a := range p.Attributes {
		out.ranges[name] = a.Expr.Range()
	}
	var at map[string]hcl.Range
	out.Labels, at = l.labels(p.BodyContent)
	for name, r := range at {
		out.ranges["labels."+name] = r
	}
	return out
}

// labels reads the required labels of nodes; nil if there are none.
func (d *decoder) labels(content *hcl.BodyContent) (out map[string]string, at map[string]hcl.Range) {
	for _, e := range d.section(content, "labels") {
		value, ok := d.text(e.expr, "label "+e.name)
		switch {
		case !ValidLabel(e.name):
			d.error(e.at, "Invalid name", fmt.Sprintf("%q is not a valid label name.", e.name),
				"Use at most 100 letters and digits, with _ . / - between them.")
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

// mergeCluster adds the requirements of an included file.
func (l *loader) mergeCluster(c *Cluster, from Cluster, inc *included) {
	c.Nodes, c.Counted = max(c.Nodes, from.Nodes), c.Counted || from.Counted
	c.GPUsPerNode = max(c.GPUsPerNode, from.GPUsPerNode)
	l.mergeResources(c, from, inc)
	c.DistinctHosts = c.DistinctHosts || from.DistinctHosts
	c.Exclusive = c.Exclusive || from.Exclusive
	for _, name := range slices.Sorted(maps.Keys(from.Labels)) {
		if own, ok := c.Labels[name]; ok && own != from.Labels[name] {
			l.error(inc.at, "Contradicting labels",
				fmt.Sprintf("%s requires nodes with label %s=%s, but another file requires %s=%s.", inc.file, name,
					from.Labels[name], name, own), "Use the same value in both, or run the files separately.")
			continue
		}
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		c.Labels[name] = from.Labels[name]
	}
}
