//go:build weirtest

package native

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"

	"github.com/google/go-cmp/cmp"
)

// policy returns the kernel's count of pages per node of the mapping that begins at an address.
func policy(t *testing.T, at uint64) (nodes string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/numa_maps")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if fields[0] != fmt.Sprintf("%08x", at) {
			continue
		}
		for _, f := range fields {
			if strings.HasPrefix(f, "N") {
				nodes += f + " "
			}
		}
		return nodes
	}
	t.Fatalf("no mapping begins at %x", at)
	return ""
}

// Memory is on the requested node, whichever library allocates it, and the result names the node. With one
// node, this shows only that nothing else happens.
func TestMemoryIsOnTheNodeThatWasAskedFor(t *testing.T) {
	phase.Long(t)
	bindable(t)
	dirs, _ := filepath.Glob("/sys/devices/system/node/node[0-9]*") // only a bad pattern is an error
	if len(dirs) == 0 {
		t.Skip("this kernel knows no NUMA nodes")
	}
	for _, dir := range dirs {
		var node int
		if _, err := fmt.Sscanf(filepath.Base(dir), "node%d", &node); err != nil {
			t.Fatal(err)
		}
		for _, fabric := range []string{"shm", "tcp", "ucx", "libfabric"} {
			for _, alloc := range []string{"fabric", "heap"} {
				o := options(100000, onNode(fmt.Sprint(node)), func(o *move.Spec) { o.Alloc = alloc })
				if o.Lacks(fabric) != "" {
					continue
				}
				t.Run(strings.Join([]string{o.NUMA, fabric, alloc}, " "), func(t *testing.T) {
					needs(t, fabric)
					for rank, r := range runCases(t, fabric, 2, o)[0] {
						if diff := cmp.Diff([]int{node}, r.MemoryNodes); diff != "" || !r.Verified {
							t.Errorf("rank %d: verified %v, nodes %s", rank, r.Verified, diff)
						}
					}
					_, ranks := openConnected(t, fabric, []string{"a", "a"}, o)
					for _, r := range ranks {
						for region := regionControl; region <= regionSink; region++ {
							base, _ := r.memory(region)
							if nodes := policy(t, base); !strings.HasPrefix(nodes, fmt.Sprintf("N%d=", node)) ||
								strings.Count(nodes, "=") != 1 {
								t.Errorf("region %d: the kernel has pages on %q", region, nodes)
							}
						}
					}
					closeAll(t, ranks)
				})
			}
		}
	}
	for numa, bound := range map[string]bool{"local": true, "default": false, "": false} {
		for rank, r := range runCases(t, "tcp", 2, options(100000, onNode(numa), threaded(2)))[0] {
			if (len(r.MemoryNodes) > 0) != bound {
				t.Errorf("numa %q: rank %d is on %v", numa, rank, r.MemoryNodes)
			}
		}
	}
}

// Binding restores the previous policy, and a page on another node is found.
func TestBindingsAreOfTheirMemoryOnly(t *testing.T) {
	bindable(t)
	if why := selftestBinding(); why != "" {
		t.Error(why)
	}
}
