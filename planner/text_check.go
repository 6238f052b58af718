// Checks and required resources of nodes in the text of a plan.

package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/quantity"
)

// resources describes what nodes must have besides GPUs.
func (c Cluster) resources() (s string) {
	if c.NICsPerNode > 0 {
		s += ", " + plural(c.NICsPerNode, "NIC")
		if c.NICDriver != "" {
			s += " of driver " + textWord(c.NICDriver)
		}
		s += " each"
	}
	for _, page := range slices.Sorted(maps.Keys(c.HugePages)) {
		s += fmt.Sprintf(", %v of free %s pages each", quantity.Size(c.HugePages[page]), page)
	}
	switch {
	case c.LockedMemory == dsl.Unlimited:
		s += ", locked memory unlimited"
	case c.LockedMemory > 0:
		s += fmt.Sprintf(", locked memory %v", quantity.Size(c.LockedMemory))
	}
	return s
}

func (c Check) text() string {
	s := c.Name + ": "
	switch {
	case c.Cluster != nil:
		s += clusterCheckText(c.Cluster)
	case c.GPU != nil:
		s += gpuCheckText(c.GPU)
	default:
		s += textArgv(c.Command)
	}
	if c.Launcher != "" {
		s += "; with launcher " + c.Launcher + " only"
	}
	if c.Severity == "skip" {
		s += "; otherwise all cases are skipped"
	} else if c.Severity == "warn" {
		s += ", or a warning"
	}
	if c.Remedy != "" {
		s += "; remedy: " + c.Remedy
	}
	return s
}

// clusterCheckText describes what the cluster must report.
func clusterCheckText(c *ClusterCheck) string {
	var all []string
	add := func(what, name string) {
		if name == "" {
			return
		}
		if c.Namespace != "" && what != "CRD" {
			name = c.Namespace + "/" + name
		}
		if c.Exists || what == "CRD" {
			all = append(all, what+" "+name)
		} else {
			all = append(all, what+" "+name+" ready")
		}
	}
	add("DaemonSet", c.DaemonSet)
	add("Deployment", c.Deployment)
	add("CRD", c.CRD)
	if c.Nodes > 0 {
		all = append(all, plural(c.Nodes, "node")+nodeText(c))
	}
	system := "Kubernetes"
	if c.OfSlurm() {
		system = "Slurm"
	}
	return system + " has " + strings.Join(all, ", ")
}

// nodeText describes what nodes of the cluster must have.
func nodeText(c *ClusterCheck) string {
	s := labelled(c.Labels)
	if c.Partition != "" {
		s += " in partition " + textWord(c.Partition)
	}
	if len(c.Features) > 0 {
		s += " with features " + strings.Join(c.Features, " ")
	}
	var amounts []string
	for _, of := range []map[string]string{c.Allocatable, c.GRES} {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			amounts = append(amounts, name+"="+textWord(of[name]))
		}
	}
	if len(amounts) > 0 {
		s += " with " + strings.Join(amounts, " ")
	}
	return s
}

// gpuCheckText describes what each GPU must report.
func gpuCheckText(c *GPUCheck) string {
	var all []string
	if c.Processes >= 0 {
		all = append(all, fmt.Sprintf("processes ≤ %d", c.Processes))
	}
	if c.MemoryFree > 0 {
		all = append(all, fmt.Sprintf("%v of memory free", quantity.Size(c.MemoryFree)))
	}
	return "each GPU has " + strings.Join(all, ", ")
}
