package native

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

func heap(o *move.Spec) { o.Alloc = "heap" }

// secondProtocols selects UCX's protocols v2, the default from 1.16 on.
var secondProtocols = map[string]string{"UCX_TLS": "posix,cma", "UCX_PROTO_ENABLE": "y"}

// The two kinds are measured differently: UCX stores into memory that it allocated, and moves other memory as
// messages, or since 1.16 through the kernel without a copy of its own, as for NIXL. The reported transport
// distinguishes them.
func TestHeapTakesAnotherWay(t *testing.T) {
	needs(t, "ucx")
	setenv(t, overKernel)
	posix, cma := results.Transport{Name: "posix", Device: "memory", Use: results.DataUse},
		results.Transport{Name: "cma", Device: "memory", Use: results.DataUse}
	allocated, own := []results.Transport{posix}, []results.Transport{posix}
	own[0].Emulated = true
	var major, minor int
	version := (native{}).Probe([]string{"ucx"})["ucx"].Version
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n != 2 {
		t.Fatalf("UCX has version %q", version)
	}
	if major > 1 || minor >= 16 {
		allocated, own = []results.Transport{cma, posix}, []results.Transport{cma}
		allocated[0].Use, allocated[1].Use = results.PossibleUse, results.PossibleUse
	}
	for _, c := range []struct {
		name   string
		change func(*move.Spec)
		want   []results.Transport
	}{
		{"allocated", func(*move.Spec) {}, allocated},
		{"heap", heap, own},
	} {
		t.Run(c.name, func(t *testing.T) {
			var data []results.Transport
			for _, carrier := range runCases(t, "ucx", 2, options(64<<10, c.change))[0][0].Transports {
				carrier.Ranks = nil
				if carrier.Data() {
					data = append(data, carrier)
				}
			}
			if fmt.Sprintf("%+v", data) != fmt.Sprintf("%+v", c.want) {
				t.Errorf("UCX %s: carried by %+v, want %+v", version, data, c.want)
			}
		})
	}
}

// If the check before a launch cannot know, allocation reports that there are no huge pages.
func TestAllocationSaysThatThereAreNoHugePages(t *testing.T) {
	for _, pages := range []string{"2MiB", "1GiB"} {
		for _, alloc := range []string{"fabric", "heap"} {
			o := options(1<<40, func(o *move.Spec) { o.Pages, o.Alloc = pages, alloc })
			l := engine.Launch{
				Fabric: "tcp", Ranks: 2, Nodes: []string{"a", "a"}, Cases: []engine.Case{caseOf("a", o, patience, 0)},
			}
			_, err := open(l, engine.Identity{Memory: &engine.Memory{}}, control(t))
			if want := fmt.Sprintf("/sys/kernel/mm/hugepages/hugepages-%dkB/nr_hugepages sets their number",
				o.ReservedPage()>>10); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("pages %s, alloc %s: %v, want %q", pages, alloc, err, want)
			}
		}
	}
}
