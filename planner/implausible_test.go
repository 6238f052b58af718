package planner

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
)

// A bandwidth is compared with the link of its path: that of the NICs between nodes, regardless of
// links within a node.
func TestImplausibleBandwidths(t *testing.T) {
	const two = "cluster: {nodes: 2}\n"
	site := map[string]float64{"efa": 12.5, "host": 400, "nvlink": 450, "sim": 1000}
	for name, c := range map[string]struct {
		cluster, run, options string
		links                 map[string]float64
		asked, says           string // "": no warning
	}{
		"over the network": {two, "", "fabric: ucx", site, "285 GB/s",
			"the links of 1 sending rank carry 1 × 12.50 GB/s = 12.50 GB/s: efa"},
		"both ways": {two, "", "fabric: ucx, bidirectional: true", site, "285 GB/s",
			"2 ranks with 1 link each carry 2 × 12.50 GB/s = 25.00 GB/s: efa"},
		"to one rank": {two, "", "fabric: ucx, ranks: 4, pattern: many_to_one", site, "285 GB/s",
			"the links of 1 receiving rank carry 1 ×"},
		"chosen by weir":  {two, "", "fabric: auto", site, "285 GB/s", "efa is the link between nodes"},
		"over sockets":    {two, "", "fabric: tcp", site, "285 GB/s", "efa is the link between nodes"},
		"within reach":    {two, "", "fabric: ucx", site, "12.5 GB/s", ""},
		"placed":          {"", "place: {nodes: 2}, ", "fabric: auto", site, "285 GB/s", "efa is the link"},
		"placed by ranks": {"", "place: {ranks_per_node: 1}, ", "fabric: auto", site, "285 GB/s", "efa is the link"},
		"with NICs":       {two, "place: {nics_per_rank: 32}, ", "fabric: ucx", site, "285 GB/s", ""},
		"with too few": {two, "place: {nics_per_rank: 8}, ", "fabric: ucx", site, "285 GB/s",
			"the links of 1 sending rank carry 8 ×"},
		"GPUs between nodes": {two, "", "fabric: ucx, initiator: vram, target: vram", site, "285 GB/s",
			"efa is the link"},
		"a library for networks, and nobody says where": {"", "", "fabric: ucx", site, "285 GB/s", "efa is the link"},
		"the same on one node": {"cluster: {nodes: 1}\n", "", "fabric: ucx", site,
			"285 GB/s", ""},
		"on one node": {"", "", "fabric: auto", site, "285 GB/s", ""},
		"on one node, more than it has": {"", "", "fabric: shm", site, "401 GB/s",
			"ranks on one node carry 1 × 400.0 GB/s = 400.0 GB/s: host"},
		"between GPUs": {"", "", "fabric: cuda, initiator: vram, target: vram",
			site, "440 GB/s", ""},
		"between GPUs, more than they have": {"", "", "fabric: cuda, initiator: vram, target: vram",
			site, "451 GB/s", "nvlink is the link"},
		"between GPUs of which nothing is known": {"", "", "fabric: cuda, initiator: vram, target: vram",
			map[string]float64{"efa": 12.5, "host": 400}, "451 GB/s", ""},
		"shm where host is not named": {"", "", "fabric: shm", map[string]float64{"efa": 12.5}, "285 GB/s", ""},
		"as the fabric is called":     {two, "", "fabric: sim", site, "999 GB/s", ""},
		"more than the fabric has":    {two, "", "fabric: sim", site, "1001 GB/s", "sim is the link of its fabric"},
		"as the provider is called": {"", "", "fabric: libfabric, provider: efa", site, "285 GB/s",
			"efa is the link of its provider"},
		"a NIC by its name": {two, "env: {UCX_NET_DEVICES: 'mlx5_1:1'}, ", "fabric: ucx",
			map[string]float64{"mlx5_0": 50, "mlx5_1": 25}, "60 GB/s", "mlx5_1 is the link between nodes"},
		"any of its NICs": {two, "", "fabric: ucx", map[string]float64{"mlx5_0": 50, "mlx5_1": 25}, "49 GB/s", ""},
	} {
		src := "scenario: s\n" + c.cluster + "runs:\n  a: {workload: transfer, " + c.run +
			"options: {block_size: 1MiB, " + c.options +
			"}, assert: [bandwidth >= " + c.asked + "]}\n"
		_, diags := Build(read(t, "s.yaml", src, dsl.Options{Links: c.links}))
		said := ""
		for _, d := range diags {
			if d.Severity == hcl.DiagError {
				t.Errorf("%s: %s", name, render(diags))
			} else if d.Summary == "Implausible" {
				said += d.Detail
			}
		}
		if (said == "") != (c.says == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: it says %q, want %q", name, said, c.says)
		}
	}
}
