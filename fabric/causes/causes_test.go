package causes

import (
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// document is a session on two nodes with two RDMA devices each. Its case moved data over rc on both.
func document() (*results.Document, *results.Case, *results.Launch) {
	zero, one := 0, 1
	active := []results.RDMAPort{{Port: 1, State: "ACTIVE"}}
	rdma := []results.RDMA{{Name: "mlx5_0", NUMA: &zero, Ports: active}, {Name: "mlx5_1", NUMA: &one, Ports: active}}
	l := &results.Launch{
		Nodes: []string{"a", "b"}, Fabric: "ucx",
		Transports: []results.Transport{
			{Name: "rc_mlx5", Device: "mlx5_0:1", Use: results.DataUse},
			{Name: "rc_mlx5", Device: "mlx5_1:1", Use: results.DataUse},
			{Name: "tcp", Device: "eth0", Use: results.ControlUse},
		},
		Variables: []results.Variable{
			{Name: "UCX_TLS", Value: "rc,cuda_copy"}, {Name: "FI_HMEM_DISABLE_P2P", Value: "0"},
		},
		Provider: []results.ProviderFact{{Name: "hmem_p2p", Value: "enabled"}},
	}
	c := &results.Case{
		Key: "c", Launches: []*results.Launch{l},
		Options: map[string]any{"initiator": "vram", "target": "vram", "block_size": "1MiB", "in_flight": int64(1)},
	}
	doc := &results.Document{
		Environment: results.Environment{Nodes: []results.Node{{Name: "a", RDMA: rdma}, {Name: "b", RDMA: rdma}}},
		Cases:       []*results.Case{c},
	}
	return doc, c, l
}

func TestAHealthyPathHasNoCause(t *testing.T) {
	doc, c, _ := document()
	if found := Of(doc, c); len(found) > 0 {
		t.Errorf("causes of a healthy path: %+v", found)
	}
}

// Each rule has a document with its evidence, and reports it first.
func TestEachCauseIsFoundByItsEvidence(t *testing.T) {
	type change func(*results.Document, *results.Case, *results.Launch)
	tests := map[string][]struct {
		change change
		seen   string
	}{
		"p2p-off": {
			{func(_ *results.Document, _ *results.Case, l *results.Launch) { l.Variables[1].Value = "1" },
				"the ranks had FI_HMEM_DISABLE_P2P=1"},
			{func(_ *results.Document, _ *results.Case, l *results.Launch) { l.Provider[0].Value = "disabled" },
				"the provider says hmem_p2p=disabled"},
		},
		"staged": {{func(_ *results.Document, _ *results.Case, l *results.Launch) {
			l.Transports = append(l.Transports, results.Transport{Name: "cuda_copy", Use: results.DataUse})
		}, "data went over cuda_copy, which copies through the host"}},
		"software-path": {
			{func(_ *results.Document, _ *results.Case, l *results.Launch) {
				l.Transports[2].Use = results.DataUse
			}, "data went over tcp although node a has RDMA device mlx5_0"},
			{func(_ *results.Document, _ *results.Case, l *results.Launch) { l.Variables[0].Value = "tcp,self,sm" },
				"the ranks had UCX_TLS=tcp,self,sm, which allows no RDMA transport"},
		},
		"no-device": {{func(d *results.Document, _ *results.Case, l *results.Launch) {
			d.Environment.Nodes[1].RDMA, l.Transports = nil, nil
		}, "node b has no active RDMA device"}},
		"same-node": {{func(_ *results.Document, _ *results.Case, l *results.Launch) {
			l.Nodes, l.Transports = []string{"a", "a"}, nil
		}, "all ranks ran on node a, and the session has 2 nodes"}},
		"fewer-rails": {{func(_ *results.Document, _ *results.Case, l *results.Launch) {
			l.Transports = l.Transports[:1]
		}, "1 of 2 active RDMA devices of node a carried data"}},
		"far-numa": {{func(_ *results.Document, _ *results.Case, l *results.Launch) {
			l.MemoryNodes = []results.MemoryNode{{Node: 1, Ranks: []int{0}}}
		}, "rank 0 has its buffers on NUMA node 1, and mlx5_0 is on node 0"}},
		"emulated": {{func(_ *results.Document, _ *results.Case, l *results.Launch) { l.Transports[0].Emulated = true },
			"a processor at the other end copied what rc_mlx5 carried"}},
		"throttled": {{func(_ *results.Document, _ *results.Case, l *results.Launch) {
			l.Counters = []results.Counter{
				{Node: "a", Device: "package 0", Name: "package_throttle_count", Class: results.ThrottleClass, By: 3},
			}
		}, "package_throttle_count of package 0 on node a, by 3 in launch 1"}},
		"link-errors": {{func(_ *results.Document, _ *results.Case, l *results.Launch) {
			l.Counters = []results.Counter{
				{Node: "b", Device: "mlx5_0:1", Name: "symbol_error", Class: results.LinkClass, By: 7},
			}
		}, "symbol_error of mlx5_0:1 on node b, by 7 in launch 1"}},
		"disturbed": {{func(_ *results.Document, _ *results.Case, l *results.Launch) {
			l.Disturbance = &results.Disturbance{Cause: "waited", Share: 0.4, Text: "rank 0 waited 40 %"}
		}, "disturbed launches that count: 1, the worst: rank 0 waited 40 %"}},
		"warm-up": {{func(_ *results.Document, c *results.Case, _ *results.Launch) {
			c.WarmUp = &results.WarmUp{Pieces: 2, Of: 16, Ratio: 0.5}
		}, "at its beginning (2 of 16 parts) a launch has 50 % of the bandwidth of the rest"}},
		"ignored-variable": {{func(_ *results.Document, _ *results.Case, l *results.Launch) {
			l.Ignored = []results.Ignored{{Name: "UCX_TSL", Suggestion: "UCX_TLS"}}
		}, "UCX_TSL"}},
		"small-requests": {{func(_ *results.Document, c *results.Case, _ *results.Launch) {
			c.Options["block_size"] = "4KiB"
		}, "one request of 4KiB is under way at a time (in_flight 1)"}},
	}
	for _, rule := range All() {
		if len(tests[rule.Name]) == 0 {
			t.Errorf("no test has evidence for %s", rule.Name)
		}
		for _, test := range tests[rule.Name] {
			doc, c, l := document()
			test.change(doc, c, l)
			found := Of(doc, c)
			if len(found) == 0 || found[0].Name != rule.Name ||
				!strings.Contains(strings.Join(found[0].Seen, "\n"), test.seen) {
				t.Errorf("%s: %q is not found first: %+v", rule.Name, test.seen, found)
			}
		}
	}
	if len(tests) != len(All()) {
		t.Errorf("%d rules have tests, and there are %d", len(tests), len(All()))
	}
}

// What concerns GPU memory is no cause of a transfer between host memories.
func TestCausesOfGPUMemoryNeedGPUMemory(t *testing.T) {
	doc, c, l := document()
	c.Options["initiator"], c.Options["target"] = "dram", "dram"
	l.Variables[1].Value = "1"
	if found := Of(doc, c); len(found) > 0 {
		t.Errorf("causes: %+v", found)
	}
}

// A variable of a provider that was not chosen has no effect, and is no cause.
func TestVariablesOfOtherProvidersAreNoCause(t *testing.T) {
	for _, test := range []struct {
		provider, variable string
		cause              bool
	}{
		{"tcp", "FI_EFA_ENABLE_SHM_TRANSFER", false}, {"efa", "FI_EFA_ENABLE_SHM_TRANSFER", true},
		{"", "FI_EFA_ENABLE_SHM_TRANSFER", true}, {"^tcp", "FI_EFA_ENABLE_SHM_TRANSFER", true},
		{"tcp;ofi_rxm", "FI_OFI_RXM_USE_SRX", true}, {"tcp", "FI_LOG_LEVLE", true}, {"tcp", "UCX_TSL", true},
	} {
		doc, c, l := document()
		l.Ignored = []results.Ignored{{Name: test.variable}}
		if test.provider != "" {
			l.Variables = []results.Variable{{Name: "FI_PROVIDER", Value: test.provider}}
		}
		found := slices.ContainsFunc(Of(doc, c), func(f Found) bool { return f.Name == "ignored-variable" })
		if found != test.cause {
			t.Errorf("%s with provider %q is a cause: %v", test.variable, test.provider, found)
		}
	}
	doc, c, l := document()
	l.Variables = []results.Variable{
		{Name: "FI_HMEM_DISABLE_P2P", Value: "1"}, {Name: "FI_PROVIDER", Value: "tcp"},
	}
	if found := Of(doc, c); len(found) != 1 || found[0].Name != "software-path" {
		t.Errorf("over tcp: %+v", found)
	}
}

// The cause with the largest effect comes first, however little evidence it has.
func TestCausesByEffect(t *testing.T) {
	doc, c, l := document()
	l.Ignored = []results.Ignored{{Name: "UCX_TSL"}, {Name: "UCX_NET_DEVICE"}}
	l.Variables[1].Value = "1"
	l.Disturbance = &results.Disturbance{Cause: "waited", Share: 0.4, Text: "rank 0 waited 40 %"}
	var names []string
	for _, f := range Of(doc, c) {
		names = append(names, f.Name)
	}
	if want := []string{"p2p-off", "ignored-variable", "disturbed"}; !slices.Equal(names, want) {
		t.Errorf("causes %q, want %q", names, want)
	}
}
