// Checks: commands on nodes, properties of the cluster and of GPUs.

package dsl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
)

// Check must hold before anything runs. It has one of Command, Cluster and GPU.
type Check struct {
	Name     string
	Command  []string      `key:"command"` // that must succeed on every node
	Cluster  *ClusterCheck // nil: it is not about the cluster
	GPU      *GPUCheck     // nil: it is not about GPUs
	Launcher string        `key:"launcher"` // with which it is made; "": any
	Severity string        `key:"severity"` // error | skip | warn: the effect of its failure
	Remedy   string        `key:"remedy"`   // what to do about a failure; "" if the author gives none
	Range    hcl.Range
}

// ClusterCheck is what a cluster must report, of Kubernetes or of Slurm. Plans have it as it is.
type ClusterCheck struct {
	DaemonSet   string            `key:"daemonset" json:"daemonset,omitempty"`
	Deployment  string            `key:"deployment" json:"deployment,omitempty"`
	CRD         string            `key:"crd" json:"crd,omitempty"`
	Namespace   string            `key:"namespace" json:"namespace,omitempty"` // "": the launcher's
	Exists      bool              `json:"exists,omitempty"`                    // pods need not be ready
	Labels      map[string]string `json:"labels,omitempty"`
	Allocatable map[string]string `json:"allocatable,omitempty"`
	Partition   string            `key:"partition" json:"partition,omitempty"`
	Features    []string          `key:"-" json:"features,omitempty"` // of Slurm
	GRES        map[string]string `json:"gres,omitempty"`
	// Nodes have all of that; 0: the check is not about nodes, or, in a scenario, about those of the cluster.
	Nodes int `key:"nodes" json:"nodes,omitempty"`
}

// GPUCheck is what each GPU must report.
type GPUCheck struct {
	Processes  int   `json:"processes"`             // at most; -1: any number
	MemoryFree int64 `json:"memory_free,omitempty"` // bytes, at least
}

// Keys of a check of the cluster: what it may ask of each system, and those that only qualify.
const (
	kubernetesKeys = "daemonset deployment crd labels allocatable"
	nodesKey       = "nodes"
	slurmKeys      = "partition features gres"
)

// check reads a check. It returns false if the scenario leaves it out.
func (l *loader) check(b *hcl.Block) (*Check, bool) {
	c := &Check{Name: b.Labels[0], Severity: "error", Range: b.LabelRanges[0]}
	l.places.add(b.DefRange, "check "+c.Name)
	content := l.content(b.Body, schemaOf(grammar.Check), "a check")
	if expr := argument(content, "on"); expr != nil {
		if on, ok := l.text(expr, "on"); ok && on != "every node" {
			l.error(expr.Range(), "Invalid value", fmt.Sprintf("A check runs on every node, not on %q.", on),
				"Write `every node`, or leave on out.")
		}
	}
	var kinds []string
	for _, kind := range []string{"command", "cluster", "gpu"} {
		if hasKey(content, kind) {
			kinds = append(kinds, kind)
		}
	}
	switch {
	case len(kinds) == 0 && l.faulty[content]:
	case len(kinds) == 0:
		l.error(c.Range, "Missing command", fmt.Sprintf("Check %q has no command.", c.Name),
			"Add command: the program and its arguments as a list; or cluster or gpu.")
	case len(kinds) > 1:
		l.error(c.Range, "Several checks in one",
			fmt.Sprintf("Check %q has %s.", c.Name, strings.Join(kinds, " and ")), "Make a check of each.")
	}
	l.fill(part{content, b.DefRange}, grammar.Check, c)
	c.Cluster, c.GPU = l.clusterCheck(content, c), l.gpuCheck(content, c)
	when := argument(content, "when")
	return c, when == nil || l.flag(when, "when")
}

func (d *decoder) gpuCheck(content *hcl.BodyContent, c *Check) *GPUCheck {
	p, ok := d.sectionPart(content, "gpu", schemaOf(grammar.GPUCheck))
	if !ok {
		return nil
	}
	g := &GPUCheck{Processes: -1}
	if expr := argument(p.BodyContent, "processes"); expr != nil {
		key, _ := grammar.Find(grammar.GPUCheck, "processes")
		g.Processes = d.count(expr, key.Name, int(key.Min), int(key.Max))
	}
	if expr := argument(p.BodyContent, "memory_free"); expr != nil {
		g.MemoryFree, _ = d.size(expr, "memory_free")
	}
	if len(p.Attributes) == 0 && !d.faulty[p.BodyContent] {
		d.error(c.Range, "Empty check", fmt.Sprintf("Check %q asks nothing of GPUs.", c.Name),
			"Add processes or memory_free.")
	}
	return g
}

func (l *loader) clusterCheck(content *hcl.BodyContent, c *Check) *ClusterCheck {
	out, before := &ClusterCheck{}, len(l.diags)
	p, ok := l.sectionOf(content, "cluster", grammar.ClusterCheck, out)
	if !ok {
		return nil
	}
	own := p.BodyContent
	if expr := argument(own, "ready"); expr != nil {
		out.Exists = !l.flag(expr, "ready")
	}
	out.Labels, _ = l.labels(own)
	out.Allocatable, out.GRES = l.amounts(own, "allocatable"), l.amounts(own, "gres")
	if expr := argument(own, "features"); expr != nil {
		items, isList, _ := l.list(expr, "features")
		if !isList {
			l.error(expr.Range(), "Not a list", "features is a list of words.", "Write [p5, efa].")
		}
		for _, i := range items {
			out.Features = append(out.Features, i.text)
		}
	}
	has := func(keys string) bool {
		return slices.ContainsFunc(strings.Fields(keys), func(k string) bool { return hasKey(own, k) })
	}
	switch {
	case has(kubernetesKeys) && has(slurmKeys):
		l.error(c.Range, "Two clusters", fmt.Sprintf("Check %q has keys of Kubernetes and of Slurm.", c.Name),
			"Make a check of each, with launcher: kubernetes and launcher: slurm.")
	case !has(kubernetesKeys) && !has(slurmKeys) && !has(nodesKey) && len(l.diags) == before:
		l.error(c.Range, "Empty check", fmt.Sprintf("Check %q asks nothing of the cluster.", c.Name),
			"Add daemonset, allocatable, gres or another key of `weir docs language`.")
	}
	return out
}

// amounts reads resources with their amounts; nil if there are none.
func (d *decoder) amounts(content *hcl.BodyContent, key string) map[string]string {
	out := map[string]string{}
	for _, e := range d.section(content, key) {
		if text, ok := d.text(e.expr, key+"."+e.name); ok {
			out[e.name] = text
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// OfSlurm reports whether the check is about Slurm; otherwise it is about Kubernetes.
func (c *ClusterCheck) OfSlurm() bool { return c.Partition != "" || len(c.Features)+len(c.GRES) > 0 }

// OfNodes reports whether the check is about nodes.
func (c *ClusterCheck) OfNodes() bool {
	return c.OfSlurm() || c.Nodes > 0 || len(c.Labels)+len(c.Allocatable) > 0
}

// equal reports whether two checks are the same.
func (c *Check) equal(o *Check) bool {
	a, b := *c, *o
	a.Range, b.Range = hcl.Range{}, hcl.Range{}
	return reflect.DeepEqual(a, b)
}
