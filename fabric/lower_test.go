package fabric

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

// The log of UCX 1.21 in NIXL 1.5.1.
const ucxLog = `NIXL INFO something
[1795524506.471630] [vm:8975 :0]   +-------+--------+-------------+----------------------------------+
[1795524506.471630] [vm:8975 :0]   | weir-rank-0 self cfg#0                                          |
[1795524506.471630] [vm:8975 :0]   | remote memory write by ucp_put*(multi) from host memory to host |
[1795524506.471630] [vm:8975 :0]   +-------+--------+-------------+----------------------------------+
[1795524506.471630] [vm:8975 :0]   | Count | Range  | Description |              Config              |
[1795524506.471630] [vm:8975 :0]   |     3 | 0..inf | copy        | self/memory                      |
[1795524506.471630] [vm:8975 :0]   +-------+--------+-------------+----------------------------------+
[1795524506.471630] [vm:8975 :0]   | weir-rank-0 intra-node cfg#1                                    |
[1795524506.471630] [vm:8975 :0]   | remote memory write by ucp_put*(multi) from host memory to host |
[1795524506.471630] [vm:8975 :0]   +-------+--------+-------------+----------------------------------+
[1795524506.471630] [vm:8975 :0]   | Count | Range  | Description |              Config              |
[1795524506.471630] [vm:8975 :0]   +-------+--------+-------------+----------------------------------+
[1795524506.471630] [vm:8975 :0]   |    20 | 0..2047 | short      | tcp/lo                           |
[1795524506.471630] [vm:8975 :0]   |   704 | 2048..inf | zero-copy | 52% on tcp/lo and 48% on rc_mlx5/mlx5_0:1/path0 |
[1795524506.471630] [vm:8975 :0]   +-------+--------+-------------+----------------------------------+
[1795524506.471630] [vm:8975 :0]   | weir-rank-0 intra-node cfg#1                                    |
[1795524506.471630] [vm:8975 :0]   | remote memory read by ucp_get*(multi) into host memory from host |
[1795524506.471630] [vm:8975 :0]   | Count | Range  | Description |              Config              |
[1795524506.471630] [vm:8975 :0]   |     9 | 0..inf | software emulation | tcp/eth0                  |
[1795524506.471630] [vm:8975 :0]   | active message by ucp_am_send* from host memory |
[1795524506.471630] [vm:8975 :0]   | Count | Range  | Description |              Config              |
[1795524506.471630] [vm:8975 :0]   |     9 | 0..inf | short | posix/memory                  |
`

func TestUCXTransportsUsed(t *testing.T) {
	all := LowerTransportsIn("nixl", ucxLog)
	for name, c := range map[string]struct {
		read bool
		size uint64
		want []results.Transport
	}{
		"large": {false, 1 << 20, []results.Transport{
			{Name: "rc_mlx5", Device: "mlx5_0:1", Use: "data", Ranks: []int{1}},
			{Name: "tcp", Device: "lo", Use: "data", Ranks: []int{1}},
		}},
		"small": {false, 8, []results.Transport{{Name: "tcp", Device: "lo", Use: "data", Ranks: []int{1}}}},
		"any": {false, 0, []results.Transport{
			{Name: "rc_mlx5", Device: "mlx5_0:1", Use: "possible", Ranks: []int{1}},
			{Name: "tcp", Device: "lo", Use: "possible", Ranks: []int{1}},
		}},
		"read": {true, 8, []results.Transport{
			{Name: "tcp", Device: "eth0", Use: "data", Emulated: true, Ranks: []int{1}},
		}},
	} {
		if d := cmp.Diff(c.want, LowerTransportsFor(all, c.read, c.size, 1)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A path that copies GPU memory through the host does not pass as one that the device reads.
func TestUCXStagesMemoryOfGPUs(t *testing.T) {
	for description, want := range map[string]string{
		"zero-copy": "", "multi-frag copy-in gdr_copy": "gdr_copy", "software emulation": "cuda_copy",
		"cuda_copy, fenced write to remote, frag host": "cuda_copy", "multi-frag copy-in": "cuda_copy",
	} {
		log := "| x cfg#1 |\n| remote memory write by ucp_put* from cuda/GPU0 memory to cuda |\n" +
			"| Count | Range | Description | Config |\n| 7 | 0..inf | " + description + " | rc_mlx5/mlx5_0:1 |\n"
		names := []string{"rc_mlx5"}
		if want != "" {
			names = []string{want, "rc_mlx5"}
		}
		if of := LowerTransportsIn("ucx", log); len(of) != len(names)-1 || len(of) > 0 && of[0].Name != want {
			t.Errorf("fabric ucx: %s: %v, want %q", description, of, want)
		}
		got := LowerTransportsFor(LowerTransportsIn("nixl", log), false, 1<<20, 0)
		slices.SortFunc(got, func(a, b results.Transport) int { return strings.Compare(a.Name, b.Name) })
		for i, name := range names {
			if len(got) != len(names) || got[i].Name != name || got[i].Use != "data" {
				t.Errorf("%s: %v, want %v", description, got, names)
				break
			}
		}
	}
}

// Tables without counts, logs without a table and other fabrics have no lower transports.
func TestNoLowerTransportsWithoutCounts(t *testing.T) {
	uncounted := "| weir-rank-1 intra-node cfg#1 |\n| remote memory write by ucp_put* from host memory to host |\n" +
		"| Range | Description | Config |\n| 0..inf | zero-copy | tcp/lo |\n"
	huge := "| x cfg#1 |\n| Count | Range | Description | Config |\n" +
		"| 99999999999999999999999 | 0..inf | zero-copy | tcp/lo |"
	for _, log := range []string{"", uncounted, "| a | b |\n||\n|", huge} {
		if got := LowerTransportsIn("nixl", log); len(got) > 0 {
			t.Errorf("%q: %v", log, got)
		}
	}
	if got := LowerTransportsIn("tcp", ucxLog); got != nil {
		t.Error(got)
	}
	if got := LowerTransportsFor(nil, false, 8, 0); len(got) > 0 {
		t.Error(got)
	}
}
