package fabric

import (
	"fmt"
	"slices"
	"strings"

	"weir/results"
	"weir/workload"
)

// AutoName is the value of option fabric that leaves the choice to weir.
const AutoName = "auto"

// Auto says where weir may choose a fabric by itself.
type Auto int

// A fabric is chosen never, between ranks on one node, between nodes that all have a
// device which reads and writes remote memory by it, or anywhere, if no other can be.
const (
	Never Auto = iota
	OnOneNode
	WithRDMA
	Anywhere
)

// Choice is the fabric of a launch. Reason is "" where the scenario names the fabric, else
// why it is this one and what a faster one lacked. Options are those of the fabric that
// follow from the reason; the cases say nothing of them.
type Choice struct {
	Fabric, Reason string
	Options        Options
}

// Candidates are the fabrics between which Choose chooses for ranks on a number of nodes,
// none if ranks have no peers. What Choose is given must say of these whether the nodes
// have them.
func Candidates(d workload.Demand, nodes int) []string {
	if d.Fabric == "" {
		return nil
	}
	if d.Fabric != AutoName {
		return []string{d.Fabric}
	}
	var list []string
	for _, f := range All {
		if onlyVRAM(f) && !d.GPU {
			continue
		}
		if f.Auto == OnOneNode || f.Auto == Anywhere || f.Auto == WithRDMA && nodes > 1 {
			list = append(list, f.Name)
		}
	}
	return list
}

// automatic are the fabrics that may be chosen at a place.
func automatic(where Auto) []Fabric {
	return slices.DeleteFunc(slices.Clone(All), func(f Fabric) bool { return f.Auto != where })
}

// Choose resolves fabric auto for ranks on these nodes, each given once, by where they are
// and what all of them have: shared memory on one node; between nodes a library that, as it
// says itself, has a device read and write remote memory on every one of them; else
// sockets.
func Choose(d workload.Demand, nodes []results.Node) Choice {
	if d.Fabric != AutoName {
		return Choice{Fabric: d.Fabric}
	}
	otherwise := automatic(Anywhere)[0].Name
	if len(nodes) == 1 {
		return onOneNode(d, nodes[0], otherwise)
	}
	where := "ranks on nodes " + names(nodes)
	var lacks []string
	for _, f := range automatic(WithRDMA) {
		used, why := remote(f, d, nodes)
		if why == "" {
			reason := fmt.Sprintf("%s, and %s has RDMA on all: %s", where, f.Name, used.words())
			c := Choice{Fabric: f.Name, Reason: strings.Join(append([]string{reason}, lacks...), "; ")}
			if f.PathOption != "" {
				c.Options = Options{f.PathOption: used[0].transport}
			}
			return c
		}
		lacks = append(lacks, why)
	}
	if why := withoutDevice(nodes); why != "" {
		return Choice{Fabric: otherwise, Reason: where + ", and " + why}
	}
	reason := fmt.Sprintf("%s with RDMA devices %s, but nothing to use them: %s", where, devices(nodes),
		strings.Join(lacks, "; "))
	return Choice{Fabric: otherwise, Reason: reason}
}

// onlyVRAM says whether a fabric moves nothing between two ends in host memory.
func onlyVRAM(f Fabric) bool { return f.Lacks != nil && f.VRAM && !f.Network }

func onOneNode(d workload.Demand, n results.Node, otherwise string) Choice {
	where := "all ranks are on node " + n.Name
	var why []string
	for _, f := range automatic(OnOneNode) {
		switch {
		case onlyVRAM(f) && !d.GPU: // nobody takes it for a way that this case could have gone
		case !n.Fabrics[f.Name].Available:
			why = append(why, lack(f.Name, n))
		case lacks(d, f.Name) != "":
			why = append(why, lacks(d, f.Name))
		default:
			return Choice{Fabric: f.Name, Reason: strings.Join(append([]string{where}, why...), "; ")}
		}
	}
	return Choice{Fabric: otherwise, Reason: where + ", but " + strings.Join(why, "; ")}
}

// withoutDevice says which nodes have no device for remote memory access.
func withoutDevice(nodes []results.Node) string {
	var without []results.Node
	for _, n := range nodes {
		if !slices.ContainsFunc(n.RDMA, results.RDMA.Active) {
			without = append(without, n)
		}
	}
	if len(without) == 0 {
		return ""
	}
	return "no RDMA device with an active port is on " + names(without)
}

func lack(fabric string, n results.Node) string {
	reason := n.Fabrics[fabric].Reason
	if reason == "" {
		reason = "this weir does not have it"
	}
	return fmt.Sprintf("%s is not available on %s: %s", fabric, n.Name, reason)
}

func devices(nodes []results.Node) string {
	var list []string
	for _, n := range nodes {
		for _, d := range n.RDMA {
			if d.Active() {
				list = append(list, d.Name+" on "+n.Name)
			}
		}
	}
	return strings.Join(list, ", ")
}

func names(nodes []results.Node) string {
	var list []string
	for _, n := range nodes {
		list = append(list, n.Name)
	}
	return strings.Join(list, ", ")
}

// lacks says what of a demand a fabric cannot do.
func lacks(d workload.Demand, fabric string) string {
	if d.Lacks == nil {
		return ""
	}
	return d.Lacks(fabric)
}
