package placement

import (
	"math"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

func TestRequirements(t *testing.T) {
	up := []results.RDMAPort{{Port: 1, State: "ACTIVE"}}
	n := results.Node{
		RDMA: []results.RDMA{
			{Name: "rdmap0", Driver: "efa", Ports: up}, {Name: "rdmap1", Driver: "efa", Ports: up},
			{Name: "mlx5_0", Driver: "mlx5_core", Ports: up},
		},
		NICs: []results.NIC{{Name: "eth0", State: "up", Driver: "ena"}},
		Memory: results.Memory{
			LockLimit: "8388608",
			Hugepages: []results.Hugepages{{Size: 2 << 20, Total: 2048, Free: 512}, {Size: 1 << 30}},
		},
	}
	pages := func(size string, bytes int64) Requirements {
		return Requirements{HugePages: map[string]int64{size: bytes}}
	}
	for name, c := range map[string]struct {
		r    Requirements
		want string // of each thing that is missing, the beginning
	}{
		"nothing":    {Requirements{}, ""},
		"EFA":        {Requirements{NICs: 2, Driver: "efa"}, ""},
		"pages":      {pages("2MiB", 1<<30), ""},
		"lockable":   {Requirements{LockedMemory: 8 << 20}, ""},
		"any driver": {Requirements{NICs: 3}, ""},
		"interface":  {Requirements{NICs: 1, Driver: "ena"}, ""},
		"devices":    {Requirements{NICs: 32, Driver: "efa"}, "NICs of driver efa on node n (needed: 32, there: 2;"},
		"no driver":  {Requirements{NICs: 4}, "NICs on node n (needed: 4, there: 3;"},
		"huge pages": {pages("2MiB", 2<<30), "free huge pages of 2MiB on node n (needed: 2GiB, there: 1GiB; 1024 in " +
			"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages reserves them"},
		"no pages": {pages("1GiB", 1), "free huge pages of 1GiB on node n (needed: 1B, there: 0B; 1 in "},
		"locked": {Requirements{LockedMemory: math.MaxInt64},
			"locked memory on node n (needed: unlimited, there: 8MiB; raise ulimit -l"},
	} {
		got := strings.Join(c.r.lacks("n", n), "; ")
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	n.Memory.LockLimit = "unlimited"
	if got := (Requirements{LockedMemory: math.MaxInt64}).lacks("n", n); len(got) > 0 {
		t.Errorf("a node without a limit: %v", got)
	}
}
