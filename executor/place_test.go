package executor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/executor/agent"
	"weir/planner"
	"weir/results"
)

// aMember is a node with two nodes of memory: half of its processors, GPUs and RDMA
// devices near each.
func aMember(host string, cpus, gpus, nics int, labels map[string]string) agent.Member {
	m := agent.Member{Host: host, Labels: labels, Node: results.Node{Fabrics: map[string]results.Fabric{"shm": {Available: true}}}}
	half := func(i, n int) *int { d := min(1, 2*i/max(n, 1)); return &d }
	var near [2][]int
	for i := range cpus {
		m.CPUs = append(m.CPUs, i)
		near[*half(i, cpus)] = append(near[*half(i, cpus)], i)
	}
	for d := range near {
		m.Node.NUMA = append(m.Node.NUMA, results.NUMANode{ID: d, CPUs: results.FormatCPUs(near[d])})
	}
	for i := range gpus {
		m.GPUs = append(m.GPUs, fmt.Sprint(i))
		m.Node.GPUs = append(m.Node.GPUs, results.GPU{NUMA: half(i, gpus)})
	}
	for i := range nics {
		m.Node.RDMA = append(m.Node.RDMA, results.RDMA{Name: fmt.Sprintf("mlx5_%d", i), Driver: "mlx5_core", NUMA: half(i, nics), Ports: []results.RDMAPort{{Port: 1, State: "ACTIVE"}}})
	}
	return m
}

func placing(members map[string]agent.Member) *session {
	s := newSession(&planner.Plan{}, Options{})
	s.members = members
	return s
}

// TestPlacementHoldsEveryConstraint draws clusters and demands. Whatever is placed keeps
// to all of them; what is refused cannot be had, which a count of the nodes that would do
// tells, and the refusal names something that is lacking.
func TestPlacementHoldsEveryConstraint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
		members := map[string]agent.Member{}
		for i := range 1 + small("members", 5) {
			labels := map[string]string{"zone": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone")}
			members[fmt.Sprintf("n%d", i)] = aMember(fmt.Sprintf("host%d", small("host", 3)), small("cpus", 8), small("gpus", 4), small("nics", 3), labels)
		}
		s := placing(members)
		d := demand{
			place: planner.Place{Nodes: 1 + small("nodes", 2), DistinctHosts: rapid.Bool().Draw(t, "distinct")},
			each:  share{gpus: small("gpus per rank", 2), nics: small("nics per rank", 2), cpus: small("cpus per rank", 3)}, thread: 1,
		}
		d.ranks = d.place.Nodes * (1 + small("ranks", 2))
		d.affine = d.each != share{}
		if rapid.Bool().Draw(t, "labelled") {
			d.place.Labels = map[string]string{"zone": "a"}
		}
		// what another launch that is running has
		other := &launched{s: s}
		if p, lacks := s.locate(demand{place: planner.Place{Nodes: 1}, ranks: 1, each: share{gpus: 1}, affine: true, thread: 1}, nil); len(lacks) == 0 {
			other.engine.Nodes, other.seats = p.nodes, p.seats
		}
		p, lacks := s.locate(d, []*launched{other})

		fits, hosts := 0, map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			m := members[name]
			free := poolOf(m)
			if len(other.engine.Nodes) > 0 && other.engine.Nodes[0] == name {
				free = free.without(other.seats)
			}
			need := d.ranks / d.place.Nodes
			if d.place.Labels != nil && m.Labels["zone"] != "a" || len(free.gpus) < need*d.each.gpus || len(free.nics) < need*d.each.nics || len(free.cpus) < need*d.each.cpus {
				continue
			}
			if !d.place.DistinctHosts || !hosts[m.Host] {
				fits++
			}
			hosts[m.Host] = true
		}
		if len(lacks) > 0 {
			if fits >= d.place.Nodes || p.nodes != nil {
				t.Fatalf("refused, and %d nodes would do: %v", fits, lacks)
			}
			if !strings.Contains(strings.Join(lacks, "; "), "needed: ") && !strings.Contains(lacks[0], "label zone=a") {
				t.Fatalf("the refusal names nothing that is lacking: %v", lacks)
			}
			return
		}
		if fits < d.place.Nodes {
			t.Fatalf("placed on %v, and only %d nodes would do", p.nodes, fits)
		}
		used := map[string]bool{} // node and resource
		for _, seat := range other.seats {
			for _, g := range seat.GPUs {
				used[other.engine.Nodes[0]+" gpu "+g] = true
			}
			for _, c := range results.ParseCPUs(seat.CPUs) {
				used[fmt.Sprint(other.engine.Nodes[0], " cpu ", c)] = true
			}
		}
		take := func(what string) {
			if used[what] {
				t.Fatalf("%s is given to two ranks: %v", what, p.seats)
			}
			used[what] = true
		}
		perNode, onHost := map[string]int{}, map[string]string{}
		for r, node := range p.nodes {
			perNode[node]++
			if other, ok := onHost[members[node].Host]; ok && other != node && d.place.DistinctHosts {
				t.Fatalf("%s and %s are one host", node, other)
			}
			onHost[members[node].Host] = node
			if d.place.Labels != nil && members[node].Labels["zone"] != "a" {
				t.Fatalf("node %s does not carry the label", node)
			}
			if !d.affine {
				continue
			}
			seat := p.seats[r]
			if seat.Rank != r || len(seat.GPUs) != d.each.gpus || len(seat.NICs) != d.each.nics || len(results.ParseCPUs(seat.CPUs)) < d.each.cpus {
				t.Fatalf("rank %d has %v", r, seat)
			}
			for _, g := range seat.GPUs {
				take(node + " gpu " + g)
			}
			for _, n := range seat.NICs {
				take(node + " nic " + n)
			}
			for _, c := range results.ParseCPUs(seat.CPUs) {
				take(fmt.Sprint(node, " cpu ", c))
			}
		}
		for node, n := range perNode {
			if n*len(perNode) != d.ranks || len(perNode) != d.place.Nodes {
				t.Fatalf("%d of %d ranks are on %s: %v", n, d.ranks, node, p.nodes)
			}
		}
		again, _ := s.locate(d, []*launched{other})
		if fmt.Sprint(again) != fmt.Sprint(p) {
			t.Fatalf("placed as %v, and then as %v", p, again)
		}
	})
}

func TestRanksHaveTheirDevicesNearThem(t *testing.T) {
	s := placing(map[string]agent.Member{"n": aMember("h", 8, 4, 2, nil)})
	for _, c := range []struct {
		ranks  int
		each   share
		thread int
		want   string
	}{
		{2, share{gpus: 1, nics: 1, cpus: 2}, 1, "rank 0, CPUs 0-1, GPUs 0, NICs mlx5_0:1, NUMA node 0; rank 1, CPUs 4-5, GPUs 2, NICs mlx5_1:1, NUMA node 1"},
		{4, share{gpus: 1}, 2, "rank 0, CPUs 0-1, GPUs 0, NUMA node 0; rank 1, CPUs 2-3, GPUs 1, NUMA node 0; rank 2, CPUs 4-5, GPUs 2, NUMA node 1; rank 3, CPUs 6-7, GPUs 3, NUMA node 1"},
		// nobody has room for all of it on one: the first takes what is near its GPUs
		{1, share{gpus: 3, nics: 1}, 1, "rank 0, CPUs 0, GPUs 0,1,2, NICs mlx5_0:1, NUMA node 0, NUMA node 1"},
		// processors are short for all ranks, and nobody asked for them
		{4, share{gpus: 1}, 3, "rank 0, GPUs 0, NUMA node 0; rank 1, GPUs 1, NUMA node 0; rank 2, GPUs 2, NUMA node 1; rank 3, GPUs 3, NUMA node 1"},
	} {
		p, lacks := s.locate(demand{place: planner.Place{Nodes: 1}, ranks: c.ranks, each: c.each, affine: true, thread: c.thread}, nil)
		var got []string
		for _, seat := range p.seats {
			got = append(got, seat.String())
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%d ranks with %+v: %s, want %s (%v)", c.ranks, c.each, text, c.want, lacks)
		}
	}
}

// A demand may say which of its nodes each rank is on, from the first again behind the last.
func TestRanksOnNodesOfTheirOwn(t *testing.T) {
	s := placing(map[string]agent.Member{"b": aMember("b", 1, 0, 0, nil), "c": aMember("c", 1, 0, 0, nil)})
	for nodes, want := range map[int]string{1: "b b b b", 2: "c b c b"} {
		d := demand{place: planner.Place{Nodes: nodes}, ranks: 4, on: []int{1, 0, 3, 2}}
		for range 2 { // and the next launch is where this one was
			p, lacks := s.locate(d, nil)
			if got := strings.Join(p.nodes, " "); got != want || len(p.moved) > 0 {
				t.Errorf("%d nodes: on %q, moved %v, %v", nodes, got, p.moved, lacks)
			}
			s.remember(d, p.nodes)
		}
	}
	if most := (demand{place: planner.Place{Nodes: 2}, ranks: 3, on: []int{1, 1, 1}}).most(); most != 3 {
		t.Errorf("the fullest node has %d ranks", most)
	}
}

// Launches stay where they are while they can, each block of ranks for itself.
func TestLaunchesStayOnTheirNodes(t *testing.T) {
	members := map[string]agent.Member{}
	for _, name := range []string{"b", "c", "d"} {
		members[name] = aMember(name, 1, 0, 0, nil)
	}
	s := placing(members)
	d := demand{place: planner.Place{Nodes: 2, DistinctHosts: true}, ranks: 4}
	step := func(want string, moved int) placement {
		t.Helper()
		p, lacks := s.locate(d, nil)
		if got := strings.Join(p.nodes, " "); got != want || len(p.moved) != moved {
			t.Errorf("on %q with %v (%v), want %q", got, p.moved, lacks, want)
		}
		if len(lacks) == 0 {
			s.remember(d, p.nodes)
		}
		return p
	}
	step("b b c c", 0)
	members["a"] = aMember("a", 1, 0, 0, nil) // that would have come first
	step("b b c c", 0)
	delete(members, "b")
	if p := step("a a c c", 1); p.moved[0] != (results.Move{From: "b", To: "a", Reason: "its agent is gone"}) {
		t.Errorf("%v", p.moved)
	}
	members["b"] = aMember("b", 1, 0, 0, nil)
	step("a a c c", 0)
	delete(members, "a")
	delete(members, "b")
	delete(members, "c")
	_, lacks := s.locate(d, nil)
	const want = "nodes on distinct hosts (needed: 2, there: 1)"
	if len(lacks) != 1 || lacks[0] != want+s.othersText() || s.othersText() == "" {
		t.Errorf("%v", lacks)
	}
	s.o.Fleet = &Fleet{} // whoever has one knows where others are named
	if _, lacks = s.locate(d, nil); len(lacks) != 1 || lacks[0] != want {
		t.Errorf("%v", lacks)
	}
}

func TestRefusalsNameWhatIsLacking(t *testing.T) {
	s := placing(map[string]agent.Member{
		"n1": aMember("h", 4, 1, 0, map[string]string{"zone": "a"}), "n2": aMember("h", 4, 2, 1, map[string]string{"zone": "b"}), "n3": aMember("i", 4, 0, 0, nil),
	})
	for _, c := range []struct {
		d    demand
		want string
	}{
		{demand{place: planner.Place{Nodes: 3, DistinctHosts: true}, ranks: 3}, "nodes on distinct hosts (needed: 3, there: 2): n1, n2 are one host"},
		{demand{place: planner.Place{Nodes: 4}, ranks: 4}, "nodes (needed: 4, there: 3)"},
		{demand{place: planner.Place{Nodes: 1, Labels: map[string]string{"zone": "c"}}, ranks: 1},
			"label zone=c on node n1, which has zone=a; label zone=c on node n2, which has zone=b; label zone=c on node n3, which has no label zone"},
		{demand{place: planner.Place{Nodes: 2}, ranks: 4, each: share{gpus: 1}, affine: true},
			"nodes (needed: 2, there: 1) that have what is asked for; GPUs on node n1 for 2 of its ranks (needed: 2, free: 1); GPUs on node n3 for 2 of its ranks (needed: 2, free: 0)"},
		{demand{place: planner.Place{Nodes: 3}, ranks: 3, nodeGPUs: 1, fabric: "ucx"}, "fabric ucx on node n1: this weir does not have it; fabric ucx on node n2: this weir does not have it; GPUs on node n3 (needed: 1, there: 0); fabric ucx on node n3: this weir does not have it"},
	} {
		_, lacks := s.locate(c.d, nil)
		if got := strings.Join(lacks, "; "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.d.place, got, c.want)
		}
	}
}

// A seat has nothing that the scenario or the shell gives the rank itself.
func TestASeatIsNotWhatOthersGive(t *testing.T) {
	for _, c := range []struct {
		set  map[string]string
		want string
	}{
		{nil, "rank 0, GPUs 1, NICs mlx5_0:1"},
		{map[string]string{"CUDA_VISIBLE_DEVICES": ""}, "rank 0, NICs mlx5_0:1"},
		{map[string]string{"UCX_NET_DEVICES": "all", "UCX_TLS": "rc"}, "rank 0, GPUs 1"},
	} {
		for i := range 3 {
			others := make([]map[string]string, 3)
			others[i] = c.set
			seat := results.Seat{GPUs: []string{"1"}, NICs: []string{"mlx5_0:1"}}
			if equip(&seat, others...); seat.String() != c.want {
				t.Errorf("%v: %v, want %s", others, seat, c.want)
			}
		}
	}
}

// The session goes on elsewhere when a node is gone, and the launch says so.
func TestSessionGoesOnElsewhere(t *testing.T) {
	b := newBench(t)
	c := aCase("c", func(c *planner.Case) { c.Place.Nodes = 1 })
	o := b.options()
	o.Nodes = []string{"n1", "n2"}
	var s *session
	o.Events = func(e Event) {
		b.events = append(b.events, e)
		if e.Type == CaseMeasured && b.count(CaseMeasured, "c") == 1 {
			s.lost("n1", "it was cut off")
		}
	}
	s = newSession(aPlan([]*planner.Case{c}, aGroup("c", []*planner.Case{c}, 3)), o)
	if err := s.conclude(t.Context(), s.run(t.Context())); err != nil {
		t.Fatal(err)
	}
	launches := s.doc.Case("c").Launches
	if len(launches) != 3 || launches[0].Nodes[0] != "n1" || launches[1].Nodes[0] != "n2" || launches[2].Nodes[0] != "n2" {
		t.Fatalf("%d launches, status %s: %s", len(launches), s.doc.Case("c").Status, s.doc.Case("c").Reason)
	}
	if got := launches[1].Moved; len(got) != 1 || got[0].String() != "node n2 instead of n1: its agent is gone" || launches[0].Moved != nil || launches[2].Moved != nil {
		t.Errorf("%v, %v, %v", launches[0].Moved, got, launches[2].Moved)
	}
	if b.count(NodeChanged, "") != 1 {
		t.Error("nobody is told of it")
	}
}

func TestRanksRunOnTheProcessorsOfTheirSeats(t *testing.T) {
	b := newBench(t)
	doc := b.run(onePlan(aCase("c", func(c *planner.Case) { c.Place.CPUsPerRank = 1 })))
	c := doc.Case("c")
	if doc.Environment.Nodes[0].CPU.Allowed < 2 {
		if c.Status != results.Error || !strings.Contains(c.Reason, "CPUs on node") {
			t.Errorf("%s: %s", c.Status, c.Reason)
		}
		t.Skip("one processor is not enough for two ranks")
	}
	seats := c.Launches[0].Seats
	if c.Status != results.OK || len(seats) != 2 || seats[0].CPUs == "" || seats[0].CPUs == seats[1].CPUs {
		t.Errorf("%s (%s) with %v", c.Status, c.Reason, seats)
	}
}
