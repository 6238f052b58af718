package run

import (
	"fmt"
	"maps"
	"math"
	"slices"

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
	return false, "when: " + c.When + lacking(c, nodes), nil
}

// hostOf is the host of conditions: the fabrics, GPUs and CPUs that all nodes have.
func hostOf(nodes []results.Node) *dsl.Host {
	h := &dsl.Host{Nodes: len(nodes), GPUs: math.MaxInt, CPUs: math.MaxInt}
	has := map[string]int{}
	for _, n := range nodes {
		h.GPUs = min(h.GPUs, len(n.GPUs))
		h.CPUs = min(h.CPUs, int(n.CPU.Usable()))
		for name, f := range n.Fabrics {
			if f.Available {
				has[name]++
			}
		}
	}
	if len(nodes) == 0 {
		h.GPUs, h.CPUs = 0, 0
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if has[name] == len(nodes) {
			h.Fabrics = append(h.Fabrics, name)
		}
	}
	return h
}

// lacking adds why the case's fabric is not available, which is the usual reason.
func lacking(c *planner.Case, nodes []results.Node) string {
	fabric, _ := c.Options["fabric"].(string)
	for _, n := range nodes {
		if f, known := n.Fabrics[fabric]; known && !f.Available {
			return fmt.Sprintf("; node %s has no %s: %s", n.Name, fabric, f.Reason)
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
