package placement

import (
	"fmt"

	"weir/workload"
)

// Share is how much of each kind of a node's resources a rank has to itself.
type Share struct{ GPUs, NICs, CPUs int }

func (s Share) plus(o Share) Share { return Share{s.GPUs + o.GPUs, s.NICs + o.NICs, s.CPUs + o.CPUs} }

func (s Share) times(n int) Share { return Share{n * s.GPUs, n * s.NICs, n * s.CPUs} }

// Demand is what a launch asks of nodes. Launches of equal demands run on the same ones.
type Demand struct {
	Nodes         int // at least 1
	DistinctHosts bool
	Labels        map[string]string // that each node must carry
	NodeGPUs      int               // that each node has at least
	Fabric        string            // that each node has; "": it is chosen by the nodes
	Ranks         int
	Threads       int   // of each rank; 0: nobody knows
	On            []int // the number of the node that each rank is on; nil: they are spread evenly
	Each          Share
	// Own is what each rank has instead, as far as it says so, and the NUMA node that it is kept
	// on; nil: nothing.
	Own []workload.Own
	// Affine says that ranks have processors of their own, as many as threads, near what
	// else they have, if there are enough processors.
	Affine bool
}

// most is how many ranks the fullest node has.
func (d Demand) most() int {
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

// Block is the number of the chosen node that a rank is on. Unless the demand says so, ranks are
// spread over nodes in equal blocks, so that with pairwise traffic over two nodes each pair
// crosses between them.
func (d Demand) Block(rank int) int {
	if d.On != nil {
		return d.On[rank]
	}
	return rank * d.Nodes / d.Ranks
}

// beyond says which ranks are on nodes that the demand does not have, as a plan can say that this weir did not make.
func (d Demand) beyond() (lacks []string) {
	for rank, node := range d.On {
		if node < 0 || node >= d.Nodes {
			lacks = append(lacks, fmt.Sprintf("node %d, counted from 0, for rank %d of a launch on %s", node, rank,
				plural(d.Nodes, "node")))
		}
	}
	return lacks
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// shareOf is what a rank has to itself.
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

// numaOf is the NUMA node that a rank is kept on; nowhere: any.
func (d Demand) numaOf(rank int) int {
	if d.Own == nil || d.Own[rank].NUMA < 0 {
		return nowhere
	}
	return int(d.Own[rank].NUMA)
}

// need is what the ranks of a block have together, and what those of each NUMA node have that
// are kept on one. Without shares of their own all blocks need what the fullest does.
func (d Demand) need(block int) (n need) {
	if d.Own == nil {
		n.ranks = d.most()
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
		if at := d.numaOf(r); at != nowhere {
			if n.near == nil {
				n.near = map[int]Share{}
			}
			n.near[at] = n.near[at].plus(share)
		}
	}
	return n
}

// need is what ranks on one node have to themselves.
type need struct {
	ranks int
	all   Share
	near  map[int]Share // of those that are kept on a NUMA node, by its number
}

// Key is equal for equal demands.
func (d Demand) Key() string { return fmt.Sprintf("%+v", d) }
