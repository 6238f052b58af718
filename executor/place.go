package executor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/executor/agent"
	"weir/fabric"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// demand is what a launch asks of nodes. Launches of equal demands run on the same ones.
type demand struct {
	place    planner.Place
	ranks    int
	nodeGPUs int    // that each node has at least
	fabric   string // that each node has; "": weir chooses one by the nodes
	each     share  // of a rank
	// affine says that ranks have processors of their own, as many as threads, near
	// what else they have: if there are enough of them, and not as a demand.
	affine bool
	thread int   // threads of a rank
	on     []int // the block that each rank is in; nil: they are spread evenly
}

func (s *session) demand(c *planner.Case, needs workload.Demand) demand {
	d := demand{
		place: c.Place, ranks: needs.Ranks, nodeGPUs: s.plan.Cluster.GPUsPerNode, fabric: needs.Fabric, thread: needs.Threads, on: needs.On,
		each: share{c.Place.GPUsPerRank, c.Place.NICsPerRank, c.Place.CPUsPerRank},
	}
	d.place.Nodes = max(1, d.place.Nodes)
	if needs.Fabric == fabric.AutoName {
		d.fabric = ""
	}
	d.affine = d.each != share{}
	return d
}

// most is how many ranks the fullest node has.
func (d demand) most() int {
	if d.on == nil {
		return (d.ranks + d.place.Nodes - 1) / d.place.Nodes
	}
	most, ranks := 0, make([]int, d.place.Nodes)
	for r := range d.ranks {
		ranks[d.block(r)]++
		most = max(most, ranks[d.block(r)])
	}
	return most
}

// block is the node, of those that were chosen, that a rank is on: ranks are spread over
// them in equal blocks, so that with pairwise traffic over two nodes each pair crosses
// between them.
func (d demand) block(rank int) int {
	if d.on != nil {
		return d.on[rank] % d.place.Nodes
	}
	return rank * d.place.Nodes / d.ranks
}

func (d demand) key() string { return fmt.Sprintf("%+v", d) }

// placement is where the ranks of a launch are.
type placement struct {
	nodes []string       // by rank
	seats []results.Seat // by rank; none: nobody has anything to itself
	moved []results.Move
}

// locate finds nodes for a launch beside what other launches have of them: those that the
// last launch of this demand had, and others in the order of their names for those that
// are gone. It changes nothing. What is lacking is named, and nothing is placed then.
func (s *session) locate(d demand, beside []*launched) (p placement, lacks []string) {
	taken := map[string][]results.Seat{}
	for _, l := range beside {
		for _, seat := range l.seats {
			node := l.engine.Nodes[seat.Rank]
			taken[node] = append(taken[node], seat)
		}
	}
	pools, unfit := map[string]pool{}, map[string][]string{}
	var fit []string
	for _, name := range slices.Sorted(maps.Keys(s.members)) {
		m := s.members[name]
		if d.affine {
			pools[name] = poolOf(m).without(taken[name])
		}
		if why := d.unfit(name, m, pools[name]); len(why) > 0 {
			unfit[name] = why
		} else {
			fit = append(fit, name)
		}
	}
	last := s.seated[d.key()]
	chosen := s.choice(d, fit, last)
	if len(chosen) == 0 {
		return p, s.shortOf(d, fit, unfit)
	}
	for i, name := range last {
		if chosen[i] != name && name != "" {
			p.moved = append(p.moved, results.Move{From: name, To: chosen[i], Reason: s.whyNot(name, unfit)})
		}
	}
	ranks := make([][]int, len(chosen))
	for r := range d.ranks {
		p.nodes = append(p.nodes, chosen[d.block(r)])
		ranks[d.block(r)] = append(ranks[d.block(r)], r)
	}
	if !d.affine {
		return p, nil
	}
	p.seats = make([]results.Seat, 0, d.ranks)
	for i, name := range chosen {
		free := pools[name]
		each := d.each
		if affine := (share{cpus: max(d.thread, each.cpus)}); free.holds(affine.times(d.most())) {
			each.cpus = affine.cpus
		}
		if each != (share{}) {
			p.seats = append(p.seats, free.deal(ranks[i], each)...)
		}
	}
	if len(p.seats) < d.ranks { // processors are short on some node, and nothing else was asked for
		p.seats = nil
	}
	return p, nil
}

// unfit is all that keeps a node from having the fullest block of ranks, given what is
// free of it.
func (d demand) unfit(name string, m agent.Member, free pool) (why []string) {
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	for _, label := range slices.Sorted(maps.Keys(d.place.Labels)) {
		want := d.place.Labels[label]
		if has, ok := m.Labels[label]; !ok {
			add("label %s=%s on node %s, which has no label %s", label, want, name, label)
		} else if has != want {
			add("label %s=%s on node %s, which has %s=%s", label, want, name, label, has)
		}
	}
	if len(m.GPUs) < d.nodeGPUs {
		add("GPUs on node %s (needed: %d, there: %d)", name, d.nodeGPUs, len(m.GPUs))
	}
	need := d.each.times(d.most())
	for _, r := range []struct {
		what       string
		need, free int
	}{{"GPUs", need.gpus, len(free.gpus)}, {"NICs", need.nics, len(free.nics)}, {"CPUs", need.cpus, len(free.cpus)}} {
		if r.free < r.need {
			add("%s on node %s for %d of its ranks (needed: %d, free: %d)", r.what, name, d.most(), r.need, r.free)
		}
	}
	if f := m.Node.Fabrics[d.fabric]; d.fabric != "" && !f.Available {
		add("%s", noFabric(d.fabric, name, f))
	}
	return why
}

func noFabric(fabric, node string, f results.Fabric) string {
	reason := f.Reason
	if reason == "" {
		reason = "this weir does not have it"
	}
	return fmt.Sprintf("fabric %s on node %s: %s", fabric, node, reason)
}

// choice takes nodes from those that fit, the former ones first and where they were; none
// if there are too few. Of the nodes of a host it takes one, if hosts must be distinct.
func (s *session) choice(d demand, fit, last []string) []string {
	left, hosts := map[string]bool{}, map[string]bool{}
	for _, name := range fit {
		left[name] = true
	}
	chosen := make([]string, d.place.Nodes)
	take := func(i int, name string) {
		host := s.members[name].Host
		if !left[name] || d.place.DistinctHosts && hosts[host] {
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

// mostUnfit is of how many nodes a refusal says why they do not do.
const mostUnfit = 8

// shortOf says why too few nodes can be had: nodes that there are not, what keeps others
// from being used, or that they are nodes of one host.
func (s *session) shortOf(d demand, fit []string, unfit map[string][]string) []string {
	var lacks []string
	all := slices.Sorted(maps.Keys(s.members))
	if have := len(s.apart(all, d.place.DistinctHosts)); have < d.place.Nodes {
		lacks = []string{nodesNeeded(d.place.Nodes, have, d.place.DistinctHosts) + s.sharedHosts(all, d) + s.lostText() + s.othersText()}
	} else if have := len(s.apart(fit, d.place.DistinctHosts)); have > 0 {
		lacks = []string{nodesNeeded(d.place.Nodes, have, d.place.DistinctHosts) + " that have what is asked for" + s.sharedHosts(fit, d)}
	}
	for i, name := range slices.Sorted(maps.Keys(unfit)) {
		if i == mostUnfit {
			return append(lacks, fmt.Sprintf("and so on for %d further nodes", len(unfit)-i))
		}
		lacks = append(lacks, unfit[name]...)
	}
	return lacks
}

// othersText says how a session of this host alone comes to others.
func (s *session) othersText() string {
	if s.o.Fleet != nil || len(s.members) > 1 {
		return ""
	}
	return "; --hosts names others to reach by ssh, and there are --launcher and --etcd"
}

// lostText says which nodes there were, and why they are not there any more.
func (s *session) lostText() (text string) {
	for i, name := range slices.Sorted(maps.Keys(s.losses)) {
		if i == mostUnfit {
			return text + ", …"
		}
		text += fmt.Sprintf(", node %s was lost: %s", name, s.losses[name])
	}
	return text
}

// sharedHosts names nodes that are one host, where hosts must be distinct.
func (s *session) sharedHosts(nodes []string, d demand) string {
	if !d.place.DistinctHosts {
		return ""
	}
	byHost := map[string][]string{}
	for _, name := range nodes {
		host := s.members[name].Host
		byHost[host] = append(byHost[host], name)
	}
	for _, first := range nodes {
		if same := byHost[s.members[first].Host]; len(same) > 1 {
			if len(same) > mostUnfit {
				same = append(same[:mostUnfit:mostUnfit], "…")
			}
			return ": " + strings.Join(same, ", ") + " are one host"
		}
	}
	return ""
}

// apart are nodes, one for each host if hosts must be distinct.
func (s *session) apart(nodes []string, distinct bool) []string {
	hosts := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(nodes), func(name string) bool {
		host := s.members[name].Host
		had := hosts[host]
		hosts[host] = true
		return distinct && had
	})
}

func nodesNeeded(need, have int, distinct bool) string {
	what := "nodes"
	if distinct {
		what = "nodes on distinct hosts"
	}
	return fmt.Sprintf("%s (needed: %d, there: %d)", what, need, have)
}

// whyNot is why a launch is not on a node any more.
func (s *session) whyNot(name string, unfit map[string][]string) string {
	if _, known := s.members[name]; !known {
		return "its agent is gone"
	}
	return strings.Join(unfit[name], "; ")
}

// remember has the next launches of a demand on the nodes that one of it was on, by rank.
func (s *session) remember(d demand, nodes []string) {
	if len(nodes) != d.ranks {
		return // of a journal that says otherwise
	}
	blocks := make([]string, d.place.Nodes)
	for r, name := range nodes {
		blocks[d.block(r)] = name
	}
	s.seated[d.key()] = blocks
}

// settle gives a launch its nodes, beside launches that run at the same time.
func (l *launched) settle(d demand, beside []*launched) error {
	if simulated(l.cases[0]) {
		names := l.s.virtualNames()
		if len(names) < d.place.Nodes {
			return fmt.Errorf("missing: %s", nodesNeeded(d.place.Nodes, len(names), false))
		}
		for r := range d.ranks {
			l.engine.Nodes = append(l.engine.Nodes, names[d.block(r)])
		}
		return nil
	}
	p, lacks := l.s.locate(d, beside)
	if len(lacks) > 0 { // some have gone
		return fmt.Errorf("missing: %s", strings.Join(lacks, "; "))
	}
	l.engine.Nodes, l.seats, l.moved = p.nodes, p.seats, p.moved
	for i := range l.seats {
		equip(&l.seats[i], l.s.shell, l.cases[0].Env, l.cases[0].Secrets)
	}
	l.s.remember(d, p.nodes)
	return nil
}

// seatsOf are the seats of some ranks.
func (l *launched) seatsOf(ranks []int) []results.Seat {
	var list []results.Seat
	for _, r := range ranks {
		if len(l.seats) > 0 {
			list = append(list, l.seats[r])
		}
	}
	return list
}

// affine says whether something of what runs at the same time as a group has resources
// to itself: then all of it has processors of its own, so that nothing gets those of another.
func (s *session) affine(g *group, beside []*launched) bool {
	asks := func(g *group) bool {
		return slices.ContainsFunc(g.cases, func(c *planner.Case) bool {
			return c.Place.GPUsPerRank+c.Place.NICsPerRank+c.Place.CPUsPerRank > 0
		})
	}
	return slices.ContainsFunc(g.load, asks) || slices.ContainsFunc(beside, func(l *launched) bool { return len(l.seats) > 0 })
}
