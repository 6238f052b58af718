package fabric

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// route is a path of a fabric between hosts, with the nodes that have it.
type route struct {
	transport, device string
	nodes             []string
}

type routes []route

// remote returns the RDMA paths of a fabric, at least one on each node, or says why there are none. If the fabric has
// a PathOption, all paths are of its first value that all nodes have.
func remote(f Fabric, d Demand, nodes []results.Node) (routes, string) {
	if why := lacks(d, f.Name); why != "" {
		return nil, why
	}
	var all routes
	for _, n := range nodes {
		has := n.Fabrics[f.Name]
		if !has.Available {
			return nil, lack(f.Name, n)
		}
		paths := slices.DeleteFunc(slices.Clone(has.Paths),
			func(p results.Path) bool { return p.Access != results.RDMAAccess })
		if len(paths) == 0 {
			return nil, fmt.Sprintf("%s has no RDMA on %s: %s", f.Name, n.Name, without(has))
		}
		for _, p := range paths {
			all.add(p, n.Name)
		}
	}
	if f.PathOption == "" {
		return all, ""
	}
	for _, r := range all {
		of := slices.DeleteFunc(slices.Clone(all), func(other route) bool { return other.transport != r.transport })
		if !slices.ContainsFunc(nodes, func(n results.Node) bool { return !of.on(n.Name) }) {
			return of, ""
		}
	}
	return nil, fmt.Sprintf("%s has no %s with RDMA that all nodes have: %s", f.Name, f.PathOption, all.words())
}

// without says what a fabric without RDMA has instead.
func without(f results.Fabric) string {
	if len(f.Paths) == 0 {
		if why := f.Details[results.OtherHosts]; why != "" {
			return why
		}
		return "it does not reach other hosts"
	}
	return "it has " + results.PathsText(f.Paths)
}

func (l *routes) add(p results.Path, node string) {
	i := slices.IndexFunc(*l, func(r route) bool { return r.transport == p.Name && r.device == p.Device })
	if i < 0 {
		i, *l = len(*l), append(*l, route{p.Name, p.Device, nil})
	}
	(*l)[i].nodes = append((*l)[i].nodes, node)
}

func (l routes) on(node string) bool {
	return slices.ContainsFunc(l, func(r route) bool { return slices.Contains(r.nodes, node) })
}

func (l routes) words() string {
	var words []string
	for _, r := range l {
		words = append(words, results.Path{Name: r.transport, Device: r.device}.String()+" on "+
			strings.Join(r.nodes, ", "))
	}
	return strings.Join(words, "; ")
}
