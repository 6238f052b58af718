package fabric

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// AutoName is the value of option fabric that leaves the choice to weir.
const AutoName = "auto"

// Auto says where auto may choose a fabric.
type Auto int

// The values of Auto: never, between ranks on one node, between nodes that all have an RDMA device for the fabric, or
// anywhere, if no other fabric fits.
const (
	Never Auto = iota
	OnOneNode
	WithRDMA
	Anywhere
)

// Choice is the fabric of a launch. Reason says why auto chose it, and what faster fabrics lack; "" if the scenario
// names the fabric. Options are the fabric's options that the choice sets.
type Choice struct {
	Fabric, Reason string
	Options        Options
}

// Demand are the requirements of a case on its fabric.
type Demand struct {
	Fabric string                     // AutoName: Choose chooses; "": its ranks have no peers
	GPU    bool                       // at least some buffers are in GPU memory
	Lacks  func(fabric string) string // says which needs of the case a fabric cannot meet, or ""; nil: each meets all
}

// Candidates are the fabrics among which Choose chooses for ranks on a number of nodes; none if ranks have no peers.
// The nodes that Choose gets must say whether they have these fabrics.
func Candidates(d Demand, nodes int) []string {
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

// automatic returns the fabrics with a value of Auto.
func automatic(where Auto) []Fabric {
	return slices.DeleteFunc(slices.Clone(All), func(f Fabric) bool { return f.Auto != where })
}

// Choose resolves fabric auto for ranks on these nodes, each given once: shared memory on one node; between nodes a
// library that reports RDMA on every node; else sockets.
func Choose(d Demand, nodes []results.Node) Choice {
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

// onlyVRAM reports whether a fabric cannot move data between two ends in host memory.
func onlyVRAM(f Fabric) bool { return f.Lacks != nil && f.VRAM && !f.Network }

func onOneNode(d Demand, n results.Node, otherwise string) Choice {
	where := "all ranks are on node " + n.Name
	var why []string
	for _, f := range automatic(OnOneNode) {
		switch {
		case onlyVRAM(f) && !d.GPU: // it needs no reason
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

// withoutDevice says which nodes lack an RDMA device with an active port; "" if none does.
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

// lacks says which part of a demand a fabric cannot meet; "" if it meets all.
func lacks(d Demand, fabric string) string {
	if d.Lacks == nil {
		return ""
	}
	return d.Lacks(fabric)
}
