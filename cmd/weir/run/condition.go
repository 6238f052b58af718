package run

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// Admits evaluates the `when` of a case on the nodes of a session. It is here because the executor does
// not import the language, nor the language the nodes.
func Admits(c *planner.Case, nodes []results.Node) (bool, string, error) {
	cond, err := dsl.CompileCondition(c.When)
	if err != nil {
		return false, "", fmt.Errorf("condition %q: %w", c.When, err)
	}
	ok, err := cond.Eval(dsl.Scope{Options: c.Options, Axes: c.Axes, Host: hostOf(nodes)})
	if err != nil || ok {
		return ok, "", err
	}
	return false, "when: " + c.When + lacking(c, cond, nodes), nil
}

// hostOf is the host of conditions: the fabrics, backends, GPUs and CPUs that all nodes have.
func hostOf(nodes []results.Node) *dsl.Host {
	h := &dsl.Host{Nodes: len(nodes), GPUs: math.MaxInt, CPUs: math.MaxInt}
	fabrics, backends := map[string]int{}, map[string]int{}
	for _, n := range nodes {
		h.GPUs = min(h.GPUs, len(n.GPUs))
		h.CPUs = min(h.CPUs, int(n.CPU.Usable()))
		for name, f := range n.Fabrics {
			if !f.Available {
				continue
			}
			fabrics[name]++
			for _, b := range strings.FieldsFunc(f.Details[results.Backends], func(r rune) bool { return r == ',' }) {
				backends[b]++
			}
		}
	}
	if len(nodes) == 0 {
		h.GPUs, h.CPUs = 0, 0
	}
	h.Fabrics, h.Backends = onAll(fabrics, len(nodes)), onAll(backends, len(nodes))
	return h
}

// onAll are the names that all nodes have.
func onAll(has map[string]int, nodes int) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if has[name] == nodes {
			all = append(all, name)
		}
	}
	return all
}

// lacking adds why the case's fabric, or a backend of it, is not available, which is the usual reason.
func lacking(c *planner.Case, cond *dsl.Condition, nodes []results.Node) string {
	fabric, _ := c.Options["fabric"].(string)
	for _, n := range nodes {
		f, known := n.Fabrics[fabric]
		if known && !f.Available {
			return fmt.Sprintf("; node %s has no %s: %s", n.Name, fabric, f.Reason)
		}
		if why := f.Details[results.BackendsLacking]; why != "" && slices.Contains(cond.Names(), "host.backends") {
			return fmt.Sprintf("; on node %s %s cannot load %s", n.Name, fabric, why)
		}
	}
	return ""
}

// AsksFor are the fabrics in a case's condition, so that a session probes only the fabrics it needs.
func AsksFor(c *planner.Case) ([]string, bool) {
	cond, err := dsl.CompileCondition(c.When)
	if err != nil {
		return nil, false // Admits reports it
	}
	return cond.Fabrics()
}
