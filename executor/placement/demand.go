package placement

import "fmt"

// Share is how much of each kind of a node's resources a rank has to itself.
type Share struct{ GPUs, NICs, CPUs int }

func (s Share) times(n int) Share { return Share{n * s.GPUs, n * s.NICs, n * s.CPUs} }

// Demand is what a launch asks of nodes. Launches of equal demands run on the same ones.
type Demand struct {
	Nodes         int // at least 1
	DistinctHosts bool
	Labels        map[string]string // that each node must carry
	NodeGPUs      int               // that each node has at least
	Fabric        string            // that each node has; "": it is chosen by the nodes
	Ranks         int
	Threads       int   // of each rank
	On            []int // the number of the node that each rank is on; nil: they are spread evenly
	Each          Share
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
		return d.On[rank] % d.Nodes
	}
	return rank * d.Nodes / d.Ranks
}

// Key is equal for equal demands.
func (d Demand) Key() string { return fmt.Sprintf("%+v", d) }
