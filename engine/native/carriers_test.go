package native

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
)

// Software is not taken for a device: the real libraries' lists agree with the kernel's.
func TestPathsOfThisHost(t *testing.T) {
	cards, _ := filepath.Glob("/sys/class/infiniband/*")
	for name, f := range (native{}).Probe([]string{"shm", "tcp", "ucx", "libfabric"}) {
		if !f.Available {
			continue
		}
		interfaces, err := net.Interfaces()
		if err != nil {
			t.Fatal(err)
		}
		up := slices.ContainsFunc(interfaces, func(i net.Interface) bool {
			return i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0
		})
		library := name == "ucx" || name == "libfabric"
		if why := f.Details[results.OtherHosts]; why != "" || len(f.Paths) > 0 != (library && up) {
			t.Errorf("%s has the paths %v (%s), network up: %v", name, f.Paths, why, up)
		}
		for _, p := range f.Paths {
			if p.Access == results.RDMAAccess && len(cards) == 0 {
				t.Errorf("%s: %v, and the kernel has no RDMA device", name, p)
			}
		}
	}
}

func TestTransportsOfAList(t *testing.T) {
	for list, want := range map[string]results.Transport{
		"d tcp;ofi_rxm/eth0\n":       {Name: "tcp;ofi_rxm", Device: "eth0", Use: results.DataUse},
		"e tcp/lo\n":                 {Name: "tcp", Device: "lo", Use: results.DataUse, Emulated: true},
		"o UCX\n":                    {Name: "UCX", Use: results.DataUse, Opaque: true},
		"p rc_mlx5/mlx5_0:1\n":       {Name: "rc_mlx5", Device: "mlx5_0:1", Use: results.PossibleUse},
		"":                           {Use: results.DataUse},
		"c tcp/eth0\n":               {Use: results.DataUse},
		"d a/memory\nd b/x\nd b/x\n": {Name: "a", Device: "memory", Use: results.DataUse},
	} {
		got := transports(list, 3, true)
		if len(got) == 0 || fmt.Sprint(got[0].Ranks) != "[3]" {
			t.Errorf("%q: %+v", list, got)
			continue
		}
		got[0].Ranks = nil
		if fmt.Sprint(got[0]) != fmt.Sprint(want) || got[0].Use != want.Use {
			t.Errorf("%q: %+v", list, got)
		}
	}
	with := "d efa/rdmap0\nf tx_size/256\nf hmem_p2p/enabled\ns FI_EFA_CQ_SIZE/8192\n"
	if got := transports(with, 0, true); len(got) != 1 || got[0].Name != "efa" {
		t.Errorf("facts of the provider carried data: %v", got)
	}
	if got := fmt.Sprint(providerFacts(with, 3, true)); got !=
		"[{FI_EFA_CQ_SIZE 8192 true [3]} {hmem_p2p enabled false [3]} {tx_size 256 false [3]}]" {
		t.Errorf("the provider's facts are %s", got)
	}
	if got := providerFacts(with, 0, false); got != nil {
		t.Errorf("a target knows %v", got)
	}
	if got := transports("d tcp\n", 0, false); got != nil {
		t.Errorf("a target knows %v", got)
	}
}
