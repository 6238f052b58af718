package engine

import (
	"fmt"
	"slices"
	"strings"

	"weir/results"
	"weir/workload"
)

// Auto is the option that leaves the choice of a fabric to weir.
const Auto = "auto"

// Choice is the fabric of a launch. Reason is "" where the scenario names the
// fabric, else why it is this one and what a faster one lacked.
type Choice struct{ Fabric, Reason string }

// Candidates are the fabrics between which Choose chooses for ranks on so many
// nodes; what it is given must say of these whether the nodes have them.
func Candidates(o workload.TransferOptions, nodes int) []string {
	if o.Fabric != Auto {
		return []string{o.Fabric}
	}
	list := []string{"shm", "tcp"}
	if nodes > 1 || vram(o) {
		list = append(list, "ucx", "libfabric")
	}
	if vram(o) {
		list = append(list, "cuda")
	}
	return list
}

func vram(o workload.TransferOptions) bool { return o.Initiator == "vram" || o.Target == "vram" }

// Choose resolves fabric auto for ranks on these nodes, each given once, by where
// they are and what all of them have: shared memory on one node; between nodes
// remote memory access by a library where every node has a device for it with an
// active port; else tcp. Shared memory is memfd, which no size of /dev/shm limits.
func Choose(o workload.TransferOptions, nodes []results.Node) Choice {
	if o.Fabric != Auto {
		return Choice{Fabric: o.Fabric}
	}
	if len(nodes) == 1 {
		return onOneNode(o, nodes[0])
	}
	where := "ranks on nodes " + names(nodes)
	if why := withoutDevice(nodes); why != "" {
		return Choice{"tcp", where + ", and " + why}
	}
	fabrics := []string{"ucx", "libfabric"}
	if everyDevice(nodes, func(d results.RDMA) bool { return d.Driver == "efa" }) {
		slices.Reverse(fabrics) // UCX does not reach remote memory through EFA by itself
	}
	var lacks []string
	for _, f := range fabrics {
		why := unusable(f, o, nodes)
		if why == "" {
			reason := where + " with RDMA devices " + devices(nodes)
			return Choice{f, strings.Join(append([]string{reason}, lacks...), "; ")}
		}
		lacks = append(lacks, why)
	}
	return Choice{"tcp", fmt.Sprintf("%s with RDMA devices %s, but nothing to use them: %s", where, devices(nodes), strings.Join(lacks, "; "))}
}

func onOneNode(o workload.TransferOptions, n results.Node) Choice {
	where := "all ranks are on node " + n.Name
	if !vram(o) {
		if f := n.Fabrics["shm"]; !f.Available {
			return Choice{"tcp", where + ", but " + lack("shm", n)}
		}
		if why := o.Lacks("shm"); why != "" {
			return Choice{"tcp", where + ", but " + why}
		}
		return Choice{"shm", where + " and all memory is DRAM"}
	}
	var lacks []string
	for _, f := range []string{"cuda", "ucx", "libfabric"} {
		if why := o.Lacks(f); why != "" {
			lacks = append(lacks, why)
			continue
		}
		if n.Fabrics[f].Available {
			return Choice{f, strings.Join(append([]string{where + " and some memory is a GPU's"}, lacks...), "; ")}
		}
		lacks = append(lacks, lack(f, n))
	}
	return Choice{"shm", fmt.Sprintf("%s; some memory is a GPU's, but %s", where, strings.Join(lacks, "; "))}
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

func everyDevice(nodes []results.Node, is func(results.RDMA) bool) bool {
	return !slices.ContainsFunc(nodes, func(n results.Node) bool {
		return slices.ContainsFunc(n.RDMA, func(d results.RDMA) bool { return d.Active() && !is(d) })
	})
}

// software are libfabric's providers that use no device for remote memory access.
var software = []string{"tcp", "udp", "net", "sockets", "shm", "sm2"}

// unusable says why a fabric cannot use the devices of all nodes for these options.
func unusable(fabric string, o workload.TransferOptions, nodes []results.Node) string {
	if why := o.Lacks(fabric); why != "" {
		return why
	}
	for _, n := range nodes {
		f := n.Fabrics[fabric]
		if !f.Available {
			return lack(fabric, n)
		}
		if fabric != "libfabric" {
			continue
		}
		if !slices.ContainsFunc(strings.Split(f.Details["providers"], ","), func(p string) bool {
			core, _, _ := strings.Cut(p, ";")
			return core != "" && !slices.Contains(software, core)
		}) {
			return fmt.Sprintf("libfabric on %s has no provider for them (it has %s)", n.Name, f.Details["providers"])
		}
	}
	return ""
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
