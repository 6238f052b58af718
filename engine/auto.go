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
// fabric, else why it is this one and what a faster one lacked. Provider is
// libfabric's that was a reason; "": libfabric is to choose.
type Choice struct{ Fabric, Provider, Reason string }

// Candidates are the fabrics, none if ranks have no peers, between which Choose chooses for ranks on so many
// nodes; what it is given must say of these whether the nodes have them.
func Candidates(d workload.Demand, nodes int) []string {
	if d.Fabric == "" {
		return nil
	}
	if d.Fabric != Auto {
		return []string{d.Fabric}
	}
	list := []string{"shm", "tcp"}
	if nodes > 1 {
		list = append(list, "ucx", "libfabric")
	}
	return list
}

// Choose resolves fabric auto for ranks on these nodes, each given once, by where
// they are and what all of them have: shared memory on one node; between nodes a
// library that, as it says itself, has a device read and write remote memory on
// every one of them; else tcp. Shared memory is memfd, which no size of /dev/shm limits.
func Choose(d workload.Demand, nodes []results.Node) Choice {
	if d.Fabric != Auto {
		return Choice{Fabric: d.Fabric}
	}
	if len(nodes) == 1 {
		return onOneNode(d, nodes[0])
	}
	where := "ranks on nodes " + names(nodes)
	var lacks []string
	for _, f := range []string{"ucx", "libfabric"} {
		used, why := remote(f, d, nodes)
		if why == "" {
			c := Choice{Fabric: f, Reason: strings.Join(append([]string{fmt.Sprintf("%s, and %s has RDMA on all: %s", where, f, used.words())}, lacks...), "; ")}
			if f == "libfabric" {
				c.Provider = used[0].transport
			}
			return c
		}
		lacks = append(lacks, why)
	}
	if why := withoutDevice(nodes); why != "" {
		return Choice{Fabric: "tcp", Reason: where + ", and " + why}
	}
	return Choice{Fabric: "tcp", Reason: fmt.Sprintf("%s with RDMA devices %s, but nothing to use them: %s", where, devices(nodes), strings.Join(lacks, "; "))}
}

func onOneNode(d workload.Demand, n results.Node) Choice {
	where := "all ranks are on node " + n.Name
	if f := n.Fabrics["shm"]; !f.Available {
		return Choice{Fabric: "tcp", Reason: where + ", but " + lack("shm", n)}
	}
	if why := lacks(d, "shm"); why != "" {
		return Choice{Fabric: "tcp", Reason: where + ", but " + why}
	}
	return Choice{Fabric: "shm", Reason: where}
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
