package placement

import (
	"fmt"
	"maps"
	"slices"

	"weir/results"
	"weir/workload"
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
	if lacks = d.beyond(); len(lacks) > 0 {
		return p, lacks
	}
	pools, refused := map[string]pool{}, map[string][]string{}
	blocks := 1 // those that differ in what they need
	if d.Own != nil {
		blocks = d.Nodes
	}
	fit := make([][]string, blocks) // by block
	var some []string               // that fit a block
	for _, name := range c.Names() {
		n := c.Nodes[name]
		if d.Affine {
			pools[name] = poolOf(n).without(taken[name])
		}
		fits := false
		for i := range fit {
			if why := d.refuses(name, n, pools[name], i); len(why) == 0 {
				fit[i], fits = append(fit[i], name), true
			} else {
				refused[name] = append(refused[name], why...)
			}
		}
		if fits {
			some = append(some, name)
		}
	}
	last := c.last[d.Key()]
	chosen := c.choice(d, fit, last)
	if len(chosen) == 0 {
		return p, c.shortOf(d, some, refused)
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

// seats are those of all ranks, by rank. None: no rank has anything to itself, as where
// processors are short and nothing else was asked for.
func (d Demand) seats(chosen []string, ranks [][]int, pools map[string]pool) []results.Seat {
	seats := make([]results.Seat, d.Ranks)
	for i, name := range chosen {
		free := pools[name]
		least := 0
		if affine := (Share{CPUs: max(d.Threads, d.Each.CPUs)}); free.holds(affine.times(d.most())) {
			least = affine.CPUs
		}
		for _, s := range d.allocate(&free, ranks[i], least) {
			seats[s.Rank] = s
		}
	}
	if !slices.ContainsFunc(seats, func(s results.Seat) bool { return !s.Empty() }) ||
		d.Each == (Share{}) && d.Own == nil && slices.ContainsFunc(seats, results.Seat.Empty) {
		return nil
	}
	return seats
}

// allocate gives ranks their seats on a node of which so much is free, those first that are kept on
// a NUMA node. Each rank has at least so many processors to itself. One that has none, and of whose
// threads nobody knows, is kept on those that nobody has, where that is not all.
func (d Demand) allocate(free *pool, ranks []int, least int) (seats []results.Seat) {
	domains, before := free.domains(), len(free.cpus)
	ordered := slices.Clone(ranks)
	slices.SortStableFunc(ordered, func(a, b int) int {
		return boolInt(d.numaOf(a) == nowhere) - boolInt(d.numaOf(b) == nowhere)
	})
	for _, r := range ordered {
		share, near := d.shareOf(r), domains
		share.CPUs = max(share.CPUs, least)
		if at := d.numaOf(r); at != nowhere {
			near = []int{at}
		}
		seats = append(seats, free.allocate(r, share, near))
	}
	for i, s := range seats {
		at := d.numaOf(s.Rank)
		others := len(free.cpus) < before || free.reduced // have processors to themselves
		if s.CPUs != "" || d.Threads > 0 || at == nowhere && !others {
			continue
		}
		left := free.cpus
		if at != nowhere {
			left = free.in(at).cpus
		}
		seats[i].SharedCPUs = listOf(left)
		if at != nowhere && !slices.Contains(s.NUMA, at) {
			seats[i].NUMA = append(seats[i].NUMA, at)
		}
	}
	return seats
}

// Reserve gives one process of a node its seat beside those that others have there. If something is
// lacking, all of that is named.
func (c *Cluster) Reserve(node string, own workload.Own, taken []results.Seat) (s results.Seat, lacks []string) {
	n := c.Nodes[node]
	d := Demand{Nodes: 1, Ranks: 1, Own: []workload.Own{own}}
	free := poolOf(n).without(taken)
	if lacks = d.refuses(node, n, free, 0); len(lacks) > 0 {
		return s, lacks
	}
	return d.allocate(&free, []int{0}, 0)[0], nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// refuses is all that keeps a node from having a block of ranks, given what is free of it.
func (d Demand) refuses(name string, n Node, free pool, block int) (why []string) {
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
	needs := d.need(block)
	short := func(need Share, free pool, where string) {
		for _, r := range []struct {
			what       string
			need, free int
		}{
			{"GPUs", need.GPUs, len(free.gpus)}, {"NICs", need.NICs, len(free.nics)},
			{"CPUs", need.CPUs, len(free.cpus)},
		} {
			if r.free < r.need {
				add("%s%s on node %s for %d of its ranks (needed: %d, free: %d)", r.what, where, name, needs.ranks,
					r.need, r.free)
			}
		}
	}
	short(needs.all, free, "")
	for _, at := range slices.Sorted(maps.Keys(needs.near)) {
		if lacks := noMemoryNode(workload.Placement(at), name, n.Node.NUMA); lacks != "" {
			add("%s", lacks)
		} else {
			short(needs.near[at], free.in(at), fmt.Sprintf(" near NUMA node %d", at))
		}
	}
	if f := n.Node.Fabrics[d.Fabric]; d.Fabric != "" && !f.Available {
		add("%s", noFabric(d.Fabric, name, f))
	}
	return why
}

// choice takes nodes from those that fit, by block or the same for all, the former ones first and
// where they were; none if there are too few. Of the nodes of a host it takes one, if hosts must be
// distinct. Blocks that fewer nodes fit choose first.
func (c *Cluster) choice(d Demand, fit [][]string, last []string) []string {
	of := func(block int) int { return block % len(fit) }
	left, hosts := make([]map[string]bool, len(fit)), map[string]bool{}
	for i := range fit {
		left[i] = map[string]bool{}
		for _, name := range fit[i] {
			left[i][name] = true
		}
	}
	chosen := make([]string, d.Nodes)
	take := func(block int, name string) {
		host := c.Nodes[name].Host
		if !left[of(block)][name] || d.DistinctHosts && hosts[host] {
			return
		}
		chosen[block], hosts[host] = name, true
		for i := range left {
			delete(left[i], name)
		}
	}
	for i, name := range last {
		take(i, name)
	}
	order := make([]int, d.Nodes)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(fit[of(a)]) - len(fit[of(b)]) })
	next := make([]int, len(fit))
	for _, i := range order {
		for ; chosen[i] == ""; next[of(i)]++ {
			if next[of(i)] == len(fit[of(i)]) {
				return nil
			}
			take(i, fit[of(i)][next[of(i)]])
		}
	}
	return chosen
}

// Remember has the next launches of a demand on the nodes that one of it was on, by rank.
func (c *Cluster) Remember(d Demand, nodes []string) {
	if len(nodes) != d.Ranks || len(d.beyond()) > 0 {
		return // of a journal that says otherwise
	}
	blocks := make([]string, d.Nodes)
	for r, name := range nodes {
		blocks[d.Block(r)] = name
	}
	c.last[d.Key()] = blocks
}
