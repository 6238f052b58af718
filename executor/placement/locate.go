package placement

import (
	"fmt"
	"maps"
	"slices"

	"weir/results"
)

// Cluster are the nodes of a session, those that were lost, and where launches were.
type Cluster struct {
	Nodes map[string]Node   // by name
	Lost  map[string]string // why, by name
	// Local says that the session knows no way to other hosts: a refusal names some.
	Local bool

	last map[string][]string // the nodes of the last launch of a demand, by its blocks
}

// NewCluster has no node yet.
func NewCluster(local bool) *Cluster {
	return &Cluster{Nodes: map[string]Node{}, Lost: map[string]string{}, Local: local, last: map[string][]string{}}
}

// Join adds a node, or what a node says now.
func (c *Cluster) Join(name string, n Node) {
	c.Nodes[name] = n
	delete(c.Lost, name)
}

// Leave takes a node out.
func (c *Cluster) Leave(name, cause string) {
	delete(c.Nodes, name)
	c.Lost[name] = cause
}

// Names are those of the nodes that are here, in order.
func (c *Cluster) Names() []string { return slices.Sorted(maps.Keys(c.Nodes)) }

// Inventories are what is known of the nodes, by name.
func (c *Cluster) Inventories() []results.Node {
	var list []results.Node
	for _, name := range c.Names() {
		n := c.Nodes[name].Node
		n.Labels = c.Nodes[name].Labels
		list = append(list, n)
	}
	return list
}

// Caches are the sizes of the last-level caches in bytes, by node.
func (c *Cluster) Caches() map[string]int64 {
	out := map[string]int64{}
	for name, n := range c.Nodes {
		out[name] = n.Node.CPU.Cache.Last()
	}
	return out
}

// Placement is where the ranks of a launch are.
type Placement struct {
	Nodes []string       // by rank
	Seats []results.Seat // by rank; none: nobody has anything to itself
	Moved []results.Move
}

// Locate finds nodes for a launch beside the seats that other launches have, by node: those
// that the last launch of this demand had, and others in the order of their names for those
// that are gone. It changes nothing. If something is lacking, all of that is named and
// nothing is placed.
func (c *Cluster) Locate(d Demand, taken map[string][]results.Seat) (p Placement, lacks []string) {
	pools, refused := map[string]pool{}, map[string][]string{}
	var fit []string
	for _, name := range c.Names() {
		n := c.Nodes[name]
		if d.Affine {
			pools[name] = poolOf(n).without(taken[name])
		}
		if why := d.refuses(name, n, pools[name]); len(why) > 0 {
			refused[name] = why
		} else {
			fit = append(fit, name)
		}
	}
	last := c.last[d.Key()]
	chosen := c.choice(d, fit, last)
	if len(chosen) == 0 {
		return p, c.shortOf(d, fit, refused)
	}
	for i, name := range last {
		if chosen[i] != name && name != "" {
			p.Moved = append(p.Moved, results.Move{From: name, To: chosen[i], Reason: c.whyMoved(name, refused)})
		}
	}
	ranks := make([][]int, len(chosen))
	for r := range d.Ranks {
		p.Nodes = append(p.Nodes, chosen[d.Block(r)])
		ranks[d.Block(r)] = append(ranks[d.Block(r)], r)
	}
	if d.Affine {
		p.Seats = d.seats(chosen, ranks, pools)
	}
	return p, nil
}

// seats are those of all ranks, by rank. None: processors are short on some node, and nothing
// else was asked for.
func (d Demand) seats(chosen []string, ranks [][]int, pools map[string]pool) []results.Seat {
	seats := make([]results.Seat, 0, d.Ranks)
	for i, name := range chosen {
		free := pools[name]
		each := d.Each
		if affine := (Share{CPUs: max(d.Threads, each.CPUs)}); free.holds(affine.times(d.most())) {
			each.CPUs = affine.CPUs
		}
		if each != (Share{}) {
			seats = append(seats, free.allocate(ranks[i], each)...)
		}
	}
	if len(seats) < d.Ranks {
		return nil
	}
	return seats
}

// refuses is all that keeps a node from having the fullest block of ranks, given what is
// free of it.
func (d Demand) refuses(name string, n Node, free pool) (why []string) {
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	for _, label := range slices.Sorted(maps.Keys(d.Labels)) {
		want := d.Labels[label]
		if has, ok := n.Labels[label]; !ok {
			add("label %s=%s on node %s, which has no label %s", label, want, name, label)
		} else if has != want {
			add("label %s=%s on node %s, which has %s=%s", label, want, name, label, has)
		}
	}
	if len(n.GPUs) < d.NodeGPUs {
		add("GPUs on node %s (needed: %d, there: %d)", name, d.NodeGPUs, len(n.GPUs))
	}
	need := d.Each.times(d.most())
	for _, r := range []struct {
		what       string
		need, free int
	}{{"GPUs", need.GPUs, len(free.gpus)}, {"NICs", need.NICs, len(free.nics)}, {"CPUs", need.CPUs, len(free.cpus)}} {
		if r.free < r.need {
			add("%s on node %s for %d of its ranks (needed: %d, free: %d)", r.what, name, d.most(), r.need, r.free)
		}
	}
	if f := n.Node.Fabrics[d.Fabric]; d.Fabric != "" && !f.Available {
		add("%s", noFabric(d.Fabric, name, f))
	}
	return why
}

// choice takes nodes from those that fit, the former ones first and where they were; none
// if there are too few. Of the nodes of a host it takes one, if hosts must be distinct.
func (c *Cluster) choice(d Demand, fit, last []string) []string {
	left, hosts := map[string]bool{}, map[string]bool{}
	for _, name := range fit {
		left[name] = true
	}
	chosen := make([]string, d.Nodes)
	take := func(i int, name string) {
		host := c.Nodes[name].Host
		if !left[name] || d.DistinctHosts && hosts[host] {
			return
		}
		chosen[i], left[name], hosts[host] = name, false, true
	}
	for i, name := range last {
		take(i, name)
	}
	next := 0
	for i := range chosen {
		for ; chosen[i] == ""; next++ {
			if next == len(fit) {
				return nil
			}
			take(i, fit[next])
		}
	}
	return chosen
}

// Remember has the next launches of a demand on the nodes that one of it was on, by rank.
func (c *Cluster) Remember(d Demand, nodes []string) {
	if len(nodes) != d.Ranks {
		return // of a journal that says otherwise
	}
	blocks := make([]string, d.Nodes)
	for r, name := range nodes {
		blocks[d.Block(r)] = name
	}
	c.last[d.Key()] = blocks
}
