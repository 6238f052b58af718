package placement

import (
	"fmt"

	"github.com/weir-bench/weir/workload"
)

// Share are numbers of dedicated resources of a node.
type Share struct{ GPUs, NICs, CPUs int }

func (s Share) plus(o Share) Share { return Share{s.GPUs + o.GPUs, s.NICs + o.NICs, s.CPUs + o.CPUs} }

func (s Share) times(n int) Share { return Share{n * s.GPUs, n * s.NICs, n * s.CPUs} }

// Demand is what a launch requires of nodes. Launches of equal demands run on the same nodes.
type Demand struct {
	Nodes         int // at least 1
	DistinctHosts bool
	Labels        map[string]string // of each node
	NodeGPUs      int               // of each node, at least
	Node          Requirements      // of each node
	Fabric        string            // that each node must have; "": any
	Ranks         int
	Threads       int   // of each rank; 0: unknown
	On            []int // the index of each rank's node; nil: ranks are spread evenly
	Each          Share // of each rank
	// Own overrides Each and sets the NUMA node, by rank; nil: no rank does.
	Own []workload.Own
	// Affine gives each rank as many dedicated processors as threads, near its devices, if there are enough.
	Affine bool
}

func (d Demand) maxRanksPerNode() int {
	if d.On == nil {
		return (d.Ranks + d.Nodes - 1) / d.Nodes
	}
	most, ranks := 0, make([]int, d.Nodes)
	for r := range d.Ranks {
		ranks[d.Block(r)]++
		most = max(most, ranks[d.Block(r)])
	}
	return most
}

// Block is the index of a rank's node. By default ranks are spread over nodes in equal blocks, so that pairwise traffic
// on two nodes crosses between them.
func (d Demand) Block(rank int) int {
	if d.On != nil {
		return d.On[rank]
	}
	return rank * d.Nodes / d.Ranks
}

// invalidNodes describes ranks on nodes that the demand does not have, which plan files may contain.
func (d Demand) invalidNodes() (lacks []string) {
	for rank, node := range d.On {
		if node < 0 || node >= d.Nodes {
			lacks = append(lacks, fmt.Sprintf("node %d, counted from 0, for rank %d of a launch (its nodes: %d)", node,
				rank, d.Nodes))
		}
	}
	return lacks
}

func (d Demand) shareOf(rank int) Share {
	s := d.Each
	if d.Own == nil {
		return s
	}
	for _, n := range []struct {
		to  *int
		own int
	}{{&s.GPUs, d.Own[rank].GPUs}, {&s.NICs, d.Own[rank].NICs}, {&s.CPUs, d.Own[rank].CPUs}} {
		if n.own > 0 {
			*n.to = n.own
		}
	}
	return s
}

// numaOf is the NUMA node that a rank is bound to; noNUMA: any.
func (d Demand) numaOf(rank int) int {
	if d.Own == nil || d.Own[rank].NUMA < 0 {
		return noNUMA
	}
	return int(d.Own[rank].NUMA)
}

// need is what the ranks of a node need together, and those that are bound to a NUMA node. Without Own, all nodes need
// what the fullest one does.
func (d Demand) need(block int) (n need) {
	if d.Own == nil {
		n.ranks = d.maxRanksPerNode()
		n.all = d.Each.times(n.ranks)
		return n
	}
	for r := range d.Ranks {
		if d.Block(r) != block {
			continue
		}
		share := d.shareOf(r)
		n.ranks++
		n.all = n.all.plus(share)
		if at := d.numaOf(r); at != noNUMA {
			if n.near == nil {
				n.near = map[int]Share{}
			}
			n.near[at] = n.near[at].plus(share)
		}
	}
	return n
}

// need are the dedicated resources of the ranks on one node.
type need struct {
	ranks int
	all   Share
	near  map[int]Share // of ranks that are bound to a NUMA node, by its number
}

// Key is equal for equal demands.
func (d Demand) Key() string { return fmt.Sprintf("%+v", d) }
