package gate

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// Links are those between the nodes of a launch: as many devices as carry its data, and link host where
// several ranks are on a node.
func TestNominalBandwidth(t *testing.T) {
	node := func(name string) results.Node {
		return results.Node{
			Name: name,
			RDMA: []results.RDMA{{Name: "rdmap0", Driver: "efa"}, {Name: "rdmap1", Driver: "efa"}},
			NICs: []results.NIC{
				{Name: "eth0", State: "up", Driver: "ena"}, {Name: "eth1", State: "down", Driver: "ena"},
			},
		}
	}
	doc := &results.Document{}
	doc.Environment.Nodes = []results.Node{node("a"), node("b"), node("c")}
	for _, c := range []struct {
		name   string
		links  map[string]float64
		launch results.Launch
		want   string
		sum    float64
	}{
		{"driver", map[string]float64{"efa": 12.5}, results.Launch{Nodes: []string{"a", "b"}},
			"4 × efa 12.50 GB/s", 50},
		{"device", map[string]float64{"eth0": 2}, results.Launch{Nodes: []string{"a", "b"}},
			"2 × eth0 2.000 GB/s", 4},
		{"down", map[string]float64{"ena": 2}, results.Launch{Nodes: []string{"a", "b"}},
			"2 × ena 2.000 GB/s", 4},
		{"own NICs", map[string]float64{"efa": 12.5}, results.Launch{
			Nodes:    []string{"a", "b"},
			Bindings: []results.Binding{{NICs: []string{"rdmap0:1"}}, {Rank: 1, NICs: []string{"rdmap0:1"}}},
		}, "2 × efa 12.50 GB/s", 25},
		{"one node", map[string]float64{"efa": 12.5, "host": 400}, results.Launch{Nodes: []string{"a", "a"}},
			"1 × host 400.0 GB/s", 400},
		{"GPUs of one node", map[string]float64{"efa": 12.5, "host": 400, "nvlink": 450},
			results.Launch{Nodes: []string{"a", "a"}, GPUs: []string{"0", "1"}}, "1 × nvlink 450.0 GB/s", 450},
		{"GPUs with an unknown link", map[string]float64{"host": 400},
			results.Launch{Nodes: []string{"a", "a"}, GPUs: []string{"0", "1"}}, "", 0},
		{"some within", map[string]float64{"efa": 12.5, "host": 400}, results.Launch{Nodes: []string{"a", "a", "b"}},
			"4 × efa 12.50 GB/s + 2 × host 400.0 GB/s", 850},
		{"host unknown", map[string]float64{"efa": 12.5},
			results.Launch{Nodes: []string{"a", "a", "b"}}, "", 0},
		{"no such link", map[string]float64{"roce": 12.5}, results.Launch{Nodes: []string{"a", "b"}}, "", 0},
		{"one way, from one node to two", map[string]float64{"efa": 12.5},
			results.Launch{Nodes: []string{"a", "b", "c"}}, "2 × efa 12.50 GB/s", 25},
		{"one way over a fabric", map[string]float64{"tcp": 1},
			results.Launch{Nodes: []string{"a", "b"}, Fabric: "tcp"}, "1 × tcp 1.000 GB/s", 1},
		{"fabric", map[string]float64{"tcp": 1}, results.Launch{Nodes: []string{"a", "b"}, Fabric: "tcp"},
			"2 × tcp 1.000 GB/s", 2},
	} {
		doc.Site = &results.Site{Name: "s", Links: c.links}
		measured := &results.Case{}
		if strings.HasPrefix(c.name, "one way") {
			measured.Workload, measured.Options = "transfer", map[string]any{"pattern": "one_to_many"}
		}
		got := nominalOf(doc, measured, &c.launch)
		if got == nil {
			got = &results.OfLink{}
		}
		if got.Links != c.want || got.Nominal != c.sum {
			t.Errorf("%s: %s = %v", c.name, got.Links, got.Nominal)
		}
	}
}
