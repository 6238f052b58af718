package engine

import (
	"maps"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestFreeMemory(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	const small, large = "sys/kernel/mm/hugepages/hugepages-2048kB/", "sys/kernel/mm/hugepages/hugepages-1048576kB/"
	for name, c := range map[string]struct {
		root fstest.MapFS
		want Memory
	}{
		"nothing is said": {fstest.MapFS{}, Memory{}},
		"no huge pages": {fstest.MapFS{"proc/meminfo": file(
			"MemTotal:  9 kB\nMemFree:  3 kB\nMemAvailable:    5 kB\nSwapFree: 7 kB")}, Memory{Available: 5 << 10}},
		"of two sizes": {fstest.MapFS{small + "free_hugepages": file("3"), large + "free_hugepages": file("0")},
			Memory{Huge: map[uint64]uint64{2 << 20: 6 << 20, 1 << 30: 0}}},
		"promised to another": {fstest.MapFS{small + "free_hugepages": file("3"), small + "resv_hugepages": file("2")},
			Memory{Huge: map[uint64]uint64{2 << 20: 2 << 20}}},
		"some may be made": {fstest.MapFS{
			small + "free_hugepages": file("1"), small + "nr_overcommit_hugepages": file("8"),
			small + "surplus_hugepages": file("5"),
		},
			Memory{Huge: map[uint64]uint64{2 << 20: 8 << 20}}},
		"of two nodes": {fstest.MapFS{
			"sys/devices/system/node/node0/meminfo":  file("Node 0 MemTotal:  900 kB\nNode 0 MemFree:   5 kB\nNode 0 Active(file): 1 kB\nNode 0 Inactive(file): 2 kB\nNode 0 Active(anon): 64 kB"),
			"sys/devices/system/node/node12/meminfo": file("Node 12 MemFree: 7 kB\nNode 12 KReclaimable: 3 kB\nNode 12 SReclaimable: 1 kB"),
			"sys/devices/system/node/node13/meminfo": file("Node 13 MemTotal: 0 kB"),
		}, Memory{Nodes: map[int]uint64{0: 8 << 10, 12: 8 << 10}}},
		"not a number": {fstest.MapFS{small + "free_hugepages": file("many"),
			"proc/meminfo": file("MemAvailable: much kB")}, Memory{}},
	} {
		if diff := cmp.Diff(c.want, FreeMemory(c.root)); diff != "" {
			t.Errorf("%s: -want +got %s", name, diff)
		}
	}
	if m := FreeMemory(os.DirFS("/")); m.Available < 1<<20 ||
		len(m.Nodes) > 0 && m.Nodes[slices.Min(slices.Collect(maps.Keys(m.Nodes)))] == 0 {
		t.Errorf("this host has %+v available?", m)
	}
}
