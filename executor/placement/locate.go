package placement

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Cluster are the nodes of a session, lost ones, and the placements of earlier launches.
type Cluster struct {
	Nodes map[string]Node   // by name
	Lost  map[string]string // why, by name
	// Local: the session uses this host only, so that messages about missing nodes explain how to use others.
	Local bool

	last map[string][]string // the nodes of the last launch of a demand, by block
}

// NewCluster returns a cluster without nodes.
func NewCluster(local bool) *Cluster {
	return &Cluster{Nodes: map[string]Node{}, Lost: map[string]string{}, Local: local, last: map[string][]string{}}
}

// Join adds or updates a node.
func (c *Cluster) Join(name string, n Node) {
	n.Node.SameHost = ""
	for other, o := range c.Nodes {
		if first := cmp.Or(o.Node.SameHost, other); o.Host == n.Host && n.Host != "" && first != name {
			n.Node.SameHost = first
		}
	}
	c.Nodes[name] = n
	delete(c.Lost, name)
}

// Leave removes a lost node.
func (c *Cluster) Leave(name, cause string) {
	delete(c.Nodes, name)
	c.Lost[name] = cause
}

// Names are the names of the nodes, sorted.
func (c *Cluster) Names() []string { return slices.Sorted(maps.Keys(c.Nodes)) }

// Inventories are the inventories of the nodes, sorted by name.
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

// Placement assigns the ranks of a launch to nodes and dedicated resources.
type Placement struct {
	Nodes    []string          // by rank
	Bindings []results.Binding // by rank; nil: no rank has dedicated resources
	Moved    []results.Move
}

// Locate places a launch next to taken bindings, by node: on the nodes of the last launch of this demand, with others
// in place of lost ones, in the order of names. It changes no state. lacks describes all that is missing; then
// nothing is placed.
func (c *Cluster) Locate(d Demand, taken map[string][]results.Binding) (p Placement, lacks []string) {
	if lacks = d.invalidNodes(); len(lacks) > 0 {
		return p, lacks
	}
	pools, refused := map[string]pool{}, map[string][]string{}
	blocks := 1 // with different needs
	if d.Own != nil {
		blocks = d.Nodes
	}
	fit := make([][]string, blocks) // by block
	var some []string               // nodes that fit any block
	for _, name := range c.Names() {
		n := c.Nodes[name]
		if d.Affine {
			pools[name] = poolOf(n).without(taken[name])
		}
		fits := false
		for i := range fit {
			if why := d.mismatches(name, n, pools[name], i); len(why) == 0 {
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
		return p, c.tooFewNodes(d, some, refused)
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
		p.Bindings = d.bindings(chosen, ranks, pools)
	}
	return p, nil
}

// bindings are the bindings of all ranks, by rank; nil: no rank has dedicated resources, for example because there are
// too few processors.
func (d Demand) bindings(chosen []string, ranks [][]int, pools map[string]pool) []results.Binding {
	bindings := make([]results.Binding, d.Ranks)
	for i, name := range chosen {
		free := pools[name]
		least := 0
		if affine := (Share{CPUs: max(d.Threads, d.Each.CPUs)}); free.holds(affine.times(d.maxRanksPerNode())) {
			least = affine.CPUs
		}
		for _, b := range d.allocate(&free, ranks[i], least) {
			bindings[b.Rank] = b
		}
	}
	if !slices.ContainsFunc(bindings, func(b results.Binding) bool { return !b.Empty() }) ||
		d.Each == (Share{}) && d.Own == nil && slices.ContainsFunc(bindings, results.Binding.Empty) {
		return nil
	}
	return bindings
}

// allocate binds ranks to free resources of a node, ranks with a NUMA node first, each to at least this many
// processors. A rank without processors of its own, and with an unknown number of threads, shares those that are
// left, if others have some.
func (d Demand) allocate(free *pool, ranks []int, least int) (bindings []results.Binding) {
	domains, before := free.numaNodes(), len(free.cpus)
	ordered := slices.Clone(ranks)
	slices.SortStableFunc(ordered, func(a, b int) int { return min(d.numaOf(b), 0) - min(d.numaOf(a), 0) })
	for _, r := range ordered {
		share, near := d.shareOf(r), domains
		share.CPUs = max(share.CPUs, least)
		if at := d.numaOf(r); at != noNUMA {
			near = []int{at}
		}
		bindings = append(bindings, free.allocate(r, share, near))
	}
	for i, b := range bindings {
		at := d.numaOf(b.Rank)
		others := len(free.cpus) < before || free.reduced // have dedicated processors
		if b.CPUs != "" || d.Threads > 0 || at == noNUMA && !others {
			continue
		}
		left := free.cpus
		if at != noNUMA {
			left = free.onNUMA(at).cpus
		}
		bindings[i].SharedCPUs = cpuList(left)
		if at != noNUMA && !slices.Contains(b.NUMA, at) {
			bindings[i].NUMA = append(bindings[i].NUMA, at)
		}
	}
	return bindings
}

// Reserve binds one process on a node, next to taken bindings. lacks describes all that is missing.
func (c *Cluster) Reserve(node string, own workload.Own, taken []results.Binding) (b results.Binding, lacks []string) {
	n := c.Nodes[node]
	d := Demand{Nodes: 1, Ranks: 1, Own: []workload.Own{own}}
	free := poolOf(n).without(taken)
	if lacks = d.mismatches(node, n, free, 0); len(lacks) > 0 {
		return b, lacks
	}
	return d.allocate(&free, []int{0}, 0)[0], nil
}

// mismatches describes why a node cannot have a block of ranks, with this free part of its resources.
func (d Demand) mismatches(name string, n Node, free pool, block int) (why []string) {
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
	why = append(why, d.Node.lacks(name, n.Node)...)
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
		if lacks := numaMissing(option.Placement(at), name, n.Node.NUMA); lacks != "" {
			add("%s", lacks)
		} else {
			short(needs.near[at], free.onNUMA(at), fmt.Sprintf(" near NUMA node %d", at))
		}
	}
	if f := n.Node.Fabrics[d.Fabric]; d.Fabric != "" && !f.Available {
		add("%s", fabricMissing(d.Fabric, name, f))
	}
	return why
}

// choice chooses a fitting node for each block, the last one if possible; nil: there are too few. fit is by block, or
// the same for all blocks. Blocks with fewer fitting nodes choose first.
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

// Remember makes later launches of a demand use these nodes, by rank.
func (c *Cluster) Remember(d Demand, nodes []string) {
	if len(nodes) != d.Ranks || len(d.invalidNodes()) > 0 {
		return // a journal may have such nodes
	}
	blocks := make([]string, d.Nodes)
	for r, name := range nodes {
		blocks[d.Block(r)] = name
	}
	c.last[d.Key()] = blocks
}
