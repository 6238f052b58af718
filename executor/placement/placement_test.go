package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// aNode is a node with two NUMA nodes: half of its processors, GPUs and RDMA devices near each.
func aNode(host string, cpus, gpus, nics int, labels map[string]string) Node {
	m := Node{
		Host: host, Labels: labels, Node: results.Node{Fabrics: map[string]results.Fabric{"shm": {Available: true}}},
	}
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
		m.Node.RDMA = append(m.Node.RDMA, results.RDMA{
			Name: fmt.Sprintf("mlx5_%d", i), Driver: "mlx5_core", NUMA: half(i, nics),
			Ports: []results.RDMAPort{{Port: 1, State: "ACTIVE"}},
		})
	}
	return m
}

// TestPlacementHoldsEveryConstraint draws clusters and demands. Placements meet all constraints; refusals are
// confirmed by counting the nodes that fit, and name what is missing.
func TestPlacementHoldsEveryConstraint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
		members := map[string]Node{}
		for i := range 1 + small("members", 5) {
			labels := map[string]string{"zone": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone")}
			members[fmt.Sprintf("n%d", i)] = aNode(fmt.Sprintf("host%d", small("host", 3)), small("cpus", 8),
				small("gpus", 4), small("nics", 3), labels)
		}
		s := &Cluster{Nodes: members, Local: true, last: map[string][]string{}}
		d := Demand{
			Nodes: 1 + small("nodes", 2), DistinctHosts: rapid.Bool().Draw(t, "distinct"),
			Each: Share{GPUs: small("gpus per rank", 2), NICs: small("nics per rank", 2),
				CPUs: small("cpus per rank", 3)}, Threads: 1,
		}
		d.Ranks = d.Nodes * (1 + small("ranks", 2))
		d.Affine = d.Each != Share{}
		if rapid.Bool().Draw(t, "labelled") {
			d.Labels = map[string]string{"zone": "a"}
		}
		// what another launch that is running has
		taken := map[string][]results.Binding{}
		if p, lacks := s.Locate(Demand{Nodes: 1, Ranks: 1, Each: Share{GPUs: 1}, Affine: true, Threads: 1},
			nil); len(lacks) == 0 {
			taken[p.Nodes[0]] = p.Bindings
		}
		p, lacks := s.Locate(d, taken)

		fits, hosts := 0, map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			m := members[name]
			free := poolOf(m).without(taken[name])
			need := d.Ranks / d.Nodes
			if d.Labels != nil && m.Labels["zone"] != "a" || len(free.gpus) < need*d.Each.GPUs ||
				len(free.nics) < need*d.Each.NICs || len(free.cpus) < need*d.Each.CPUs {
				continue
			}
			if !d.DistinctHosts || !hosts[m.Host] {
				fits++
			}
			hosts[m.Host] = true
		}
		if len(lacks) > 0 {
			if fits >= d.Nodes || p.Nodes != nil {
				t.Fatalf("refused, and %d nodes would do: %v", fits, lacks)
			}
			if !strings.Contains(strings.Join(lacks, "; "), "needed: ") && !strings.Contains(lacks[0], "label zone=a") {
				t.Fatalf("the refusal names nothing that is lacking: %v", lacks)
			}
			return
		}
		if fits < d.Nodes {
			t.Fatalf("placed on %v, and only %d nodes would do", p.Nodes, fits)
		}
		used := map[string]bool{} // node and resource
		for node, bindings := range taken {
			for _, binding := range bindings {
				for _, g := range binding.GPUs {
					used[node+" gpu "+g] = true
				}
				for _, c := range results.ParseCPUs(binding.CPUs) {
					used[fmt.Sprint(node, " cpu ", c)] = true
				}
			}
		}
		take := func(what string) {
			if used[what] {
				t.Fatalf("%s is given to two Ranks: %v", what, p.Bindings)
			}
			used[what] = true
		}
		perNode, onHost := map[string]int{}, map[string]string{}
		for r, node := range p.Nodes {
			perNode[node]++
			if other, ok := onHost[members[node].Host]; ok && other != node && d.DistinctHosts {
				t.Fatalf("%s and %s are one host", node, other)
			}
			onHost[members[node].Host] = node
			if d.Labels != nil && members[node].Labels["zone"] != "a" {
				t.Fatalf("node %s does not carry the label", node)
			}
			if !d.Affine {
				continue
			}
			binding := p.Bindings[r]
			if binding.Rank != r || len(binding.GPUs) != d.Each.GPUs || len(binding.NICs) != d.Each.NICs ||
				len(results.ParseCPUs(binding.CPUs)) < d.Each.CPUs {
				t.Fatalf("rank %d has %v", r, binding)
			}
			for _, g := range binding.GPUs {
				take(node + " gpu " + g)
			}
			for _, n := range binding.NICs {
				take(node + " nic " + n)
			}
			for _, c := range results.ParseCPUs(binding.CPUs) {
				take(fmt.Sprint(node, " cpu ", c))
			}
		}
		for node, n := range perNode {
			if n*len(perNode) != d.Ranks || len(perNode) != d.Nodes {
				t.Fatalf("%d of %d ranks are on %s: %v", n, d.Ranks, node, p.Nodes)
			}
		}
		again, _ := s.Locate(d, taken)
		if fmt.Sprint(again) != fmt.Sprint(p) {
			t.Fatalf("placed as %v, and then as %v", p, again)
		}
	})
}

func TestRanksHaveTheirDevicesNearThem(t *testing.T) {
	s := &Cluster{Nodes: map[string]Node{"n": aNode("h", 8, 4, 2, nil)}}
	for _, c := range []struct {
		ranks  int
		each   Share
		thread int
		want   string
	}{
		{2, Share{GPUs: 1, NICs: 1, CPUs: 2}, 1, "rank 0, CPUs 0-1, GPUs 0, NICs mlx5_0:1, NUMA node 0; rank 1, CPUs 4-5, GPUs 2, NICs mlx5_1:1, NUMA node 1"},
		{4, Share{GPUs: 1}, 2, "rank 0, CPUs 0-1, GPUs 0, NUMA node 0; rank 1, CPUs 2-3, GPUs 1, NUMA node 0; rank 2, CPUs 4-5, GPUs 2, NUMA node 1; rank 3, CPUs 6-7, GPUs 3, NUMA node 1"},
		// nobody has room for all of it on one: the first takes what is near its GPUs
		{1, Share{GPUs: 3, NICs: 1}, 1, "rank 0, CPUs 0, GPUs 0,1,2, NICs mlx5_0:1, NUMA node 0, NUMA node 1"},
		// processors are short for all ranks, and nobody asked for them
		{4, Share{GPUs: 1}, 3, "rank 0, GPUs 0, NUMA node 0; rank 1, GPUs 1, NUMA node 0; rank 2, GPUs 2, NUMA node 1; rank 3, GPUs 3, NUMA node 1"},
	} {
		p, lacks := s.Locate(Demand{Nodes: 1, Ranks: c.ranks, Each: c.each, Affine: true, Threads: c.thread}, nil)
		var got []string
		for _, binding := range p.Bindings {
			got = append(got, binding.String())
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%d ranks with %+v: %s, want %s (%v)", c.ranks, c.each, text, c.want, lacks)
		}
	}
}

// A demand may give the node of each rank. A node that it does not have is reported.
func TestRanksOnNodesOfTheirOwn(t *testing.T) {
	c := NewCluster(true)
	c.Join("b", aNode("b", 1, 0, 0, nil))
	c.Join("c", aNode("c", 1, 0, 0, nil))
	d := Demand{Nodes: 2, Ranks: 4, On: []int{1, 0, 1, 0}}
	for range 2 { // and the next launch is where this one was
		p, lacks := c.Locate(d, nil)
		if got := strings.Join(p.Nodes, " "); got != "c b c b" || len(p.Moved) > 0 {
			t.Errorf("on %q, moved %v, %v", got, p.Moved, lacks)
		}
		c.Remember(d, p.Nodes)
	}
	d.Nodes = 1
	p, lacks := c.Locate(d, nil)
	if len(p.Nodes) > 0 || strings.Join(lacks, "; ") != "node 1, counted from 0, for rank 0 of a launch (its nodes: 1); "+
		"node 1, counted from 0, for rank 2 of a launch (its nodes: 1)" {
		t.Errorf("on %v, lacking %q", p.Nodes, lacks)
	}
	c.Remember(d, []string{"b", "b", "b", "b"}) // of the journal of an older weir
	if most := (Demand{Nodes: 2, Ranks: 3, On: []int{1, 1, 1}}).maxRanksPerNode(); most != 3 {
		t.Errorf("the fullest node has %d ranks", most)
	}
}

// Launches stay on their nodes while they can, each block of ranks by itself.
func TestLaunchesStayOnTheirNodes(t *testing.T) {
	members := map[string]Node{}
	for _, name := range []string{"b", "c", "d"} {
		members[name] = aNode(name, 1, 0, 0, nil)
	}
	s := &Cluster{Nodes: members, Local: true, last: map[string][]string{}}
	d := Demand{Nodes: 2, DistinctHosts: true, Ranks: 4}
	step := func(want string, moved int) Placement {
		t.Helper()
		p, lacks := s.Locate(d, nil)
		if got := strings.Join(p.Nodes, " "); got != want || len(p.Moved) != moved {
			t.Errorf("on %q with %v (%v), want %q", got, p.Moved, lacks, want)
		}
		if len(lacks) == 0 {
			s.Remember(d, p.Nodes)
		}
		return p
	}
	step("b b c c", 0)
	members["a"] = aNode("a", 1, 0, 0, nil) // that would have come first
	step("b b c c", 0)
	delete(members, "b")
	if p := step("a a c c", 1); p.Moved[0] != (results.Move{From: "b", To: "a", Reason: "its agent is gone"}) {
		t.Errorf("%v", p.Moved)
	}
	members["b"] = aNode("b", 1, 0, 0, nil)
	step("a a c c", 0)
	delete(members, "a")
	delete(members, "b")
	delete(members, "c")
	_, lacks := s.Locate(d, nil)
	const want = "nodes on distinct hosts (needed: 2, there: 1)"
	if len(lacks) != 1 || lacks[0] != want+s.launcherHint() || s.launcherHint() == "" {
		t.Errorf("%v", lacks)
	}
	s.Local = false // a session with a fleet knows where others are named
	if _, lacks = s.Locate(d, nil); len(lacks) != 1 || lacks[0] != want {
		t.Errorf("%v", lacks)
	}
}

func TestRefusalsNameWhatIsLacking(t *testing.T) {
	s := &Cluster{Nodes: map[string]Node{
		"n1": aNode("h", 4, 1, 0, map[string]string{"zone": "a"}),
		"n2": aNode("h", 4, 2, 1, map[string]string{"zone": "b"}), "n3": aNode("i", 4, 0, 0, nil),
	}}
	for _, c := range []struct {
		d    Demand
		want string
	}{
		{Demand{Nodes: 3, DistinctHosts: true, Ranks: 3},
			"nodes on distinct hosts (needed: 3, there: 2): n1, n2 are one host"},
		{Demand{Nodes: 4, Ranks: 4}, "nodes (needed: 4, there: 3)"},
		{Demand{Nodes: 1, Labels: map[string]string{"zone": "c"}, Ranks: 1},
			"label zone=c on node n1, which has zone=a; label zone=c on node n2, which has zone=b; label zone=c on node n3, which has no label zone"},
		{Demand{Nodes: 2, Ranks: 4, Each: Share{GPUs: 1}, Affine: true},
			"nodes (needed: 2, there: 1) that meet the requirements; GPUs on node n1 for 2 of its ranks (needed: 2, free: 1); GPUs on node n3 for 2 of its ranks (needed: 2, free: 0)"},
		{Demand{Nodes: 3, Ranks: 3, NodeGPUs: 1, Fabric: "ucx"},
			"fabric ucx on node n1: this weir does not have it; fabric ucx on node n2: this weir does not have it; GPUs on node n3 (needed: 1, there: 0); fabric ucx on node n3: this weir does not have it"},
	} {
		_, lacks := s.Locate(c.d, nil)
		if got := strings.Join(lacks, "; "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.d, got, c.want)
		}
	}
}

// Each rank may have its own share and NUMA node: blocks go to nodes that have them, and ranks without get the
// rest.
func TestRanksWithSharesOfTheirOwn(t *testing.T) {
	c := NewCluster(true)
	c.Join("a", aNode("a", 4, 0, 0, nil))
	c.Join("b", aNode("b", 4, 1, 0, nil))
	none := workload.NothingOwn
	gpu, near := none, none
	gpu.GPUs = 1
	near.NUMA, near.CPUs = 1, 1
	d := Demand{Nodes: 2, Ranks: 3, On: []int{0, 1, 1}, Own: []workload.Own{gpu, near, none}, Affine: true}
	p, lacks := c.Locate(d, nil)
	if got := strings.Join(p.Nodes, " "); got != "b a a" {
		t.Fatalf("on %q, %v", got, lacks)
	}
	for i, want := range []string{
		"rank 0, GPUs 0, NUMA node 0", "rank 1, CPUs 2, NUMA node 1", "rank 2, shared CPUs 0-1,3",
	} {
		if got := p.Bindings[i].String(); got != want {
			t.Errorf("%s instead of %s", got, want)
		}
	}
	near.CPUs = 3
	d.Own[1] = near
	if _, lacks = c.Locate(d, nil); !slices.Contains(lacks,
		"CPUs near NUMA node 1 on node a for 2 of its ranks (needed: 3, free: 2)") {
		t.Error(lacks)
	}

	binding, _ := c.Reserve("a", workload.Own{CPUs: 2, NUMA: 1}, nil)
	other, _ := c.Reserve("a", none, []results.Binding{binding})
	if binding.CPUs != "2-3" || other.SharedCPUs != "0-1" {
		t.Errorf("%v, %v", binding, other)
	}
}
