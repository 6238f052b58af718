// This file binds services to dedicated resources of their nodes, before a launch is placed.

package executor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// reserve binds the services of a launch to dedicated resources, before its ranks are placed. A running service
// keeps its binding.
func (v *services) reserve(l *launchRun, concurrent []*launchRun) error {
	other, kept := map[string][]results.Binding{}, map[string]results.Binding{}
	for _, x := range v.up {
		i := slices.IndexFunc(l.services, func(s workload.Service) bool { return s.Name == x.Name })
		switch {
		case x.task == nil || !exclusive(x.binding):
		case i < 0:
			other[x.task.nodes[0]] = append(other[x.task.nodes[0]], x.binding)
		case l.services[i].Own == x.Own && l.services[i].Node == x.Node:
			kept[x.Name] = x.binding
		}
	}
	taken := bindingsTaken(concurrent)
	addBindings(taken, other)
	bindings, lacks := v.s.bindServices(l.services, taken, kept)
	if len(lacks) > 0 {
		return fmt.Errorf("missing: %s", strings.Join(lacks, "; "))
	}
	l.serviceBindings = bindings
	l.reserved = reservedByServices(l.services, bindings, v.s.nodes.Names())
	addBindings(l.reserved, other)
	return nil
}

// bindServices binds services next to taken bindings, by node, and returns their bindings by name. Services that
// ask for resources come first; kept ones have theirs already.
func (s *session) bindServices(all []workload.Service, taken map[string][]results.Binding,
	kept map[string]results.Binding) (bindings map[string]results.Binding, lacks []string) {
	nodes, used := s.nodes.Names(), map[string][]results.Binding{}
	addBindings(used, taken)
	bindings = map[string]results.Binding{}
	for _, spec := range all {
		if b, ok := kept[spec.Name]; ok {
			bindings[spec.Name] = b
			used[nodes[spec.Node]] = append(used[nodes[spec.Node]], b)
		}
	}
	for _, asking := range []bool{true, false} {
		for _, spec := range all {
			_, has := kept[spec.Name]
			if has || (spec.Own != workload.NothingOwn) != asking || spec.Cluster != nil || spec.Node >= len(nodes) {
				continue
			}
			node := nodes[spec.Node]
			b, short := s.nodes.Reserve(node, spec.Own, used[node])
			for _, what := range short {
				lacks = append(lacks, fmt.Sprintf("for service %s: %s", spec.Name, what))
			}
			bindings[spec.Name] = b
			if asking {
				used[node] = append(used[node], b)
			}
		}
	}
	return bindings, lacks
}

func reservedByServices(all []workload.Service, bindings map[string]results.Binding,
	nodes []string) map[string][]results.Binding {
	reserved := map[string][]results.Binding{}
	for _, x := range all {
		if b, ok := bindings[x.Name]; ok && exclusive(b) {
			reserved[nodes[x.Node]] = append(reserved[nodes[x.Node]], b)
		}
	}
	return reserved
}

// exclusive reports whether a binding has resources that others do not share.
func exclusive(b results.Binding) bool { return b.CPUs != "" || len(b.GPUs)+len(b.NICs) > 0 }
