package native

import (
	"fmt"
	"strings"
	"testing"

	"weir/engine"
	"weir/results"
	"weir/test/phase"
	"weir/workload/move"
)

func heap(o *move.Spec) { o.Alloc = "heap" }

// A fabric moves memory that it did not allocate, every byte of it, by each of its ways.
func TestHeapMovesEveryByte(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	for _, fabric := range []string{"tcp", "libfabric"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			checkTransfer(t, fabric, []move.Spec{
				options(8, heap), options(4097, heap, batch4), options(1<<20, heap, read),
				options(100000, heap, pingpong), options(64<<10, heap, full),
			})
		})
	}
	for _, env := range []map[string]string{overKernel, overQueue, overSockets, secondProtocols} {
		for _, name := range []string{"rma", "am", "tag", "tag_sync"} {
			t.Run(fmt.Sprint("ucx ", name, " ", env), func(t *testing.T) {
				needs(t, "ucx")
				setenv(t, env)
				cases := []move.Spec{
					options(8, heap, api(name)), options(4097, heap, batch4, api(name)),
					options(1<<20+3, heap, full, api(name)), options(100000, heap, pingpong, api(name)),
				}
				if name == "rma" {
					cases = append(cases, options(70000, heap, read))
				}
				checkTransfer(t, "ucx", cases)
			})
		}
	}
}

// secondProtocols are those of UCX 1.16 and later, which older versions have to be asked for.
var secondProtocols = map[string]string{"UCX_TLS": "posix,cma", "UCX_PROTO_ENABLE": "y"}

func setenv(t *testing.T, env map[string]string) {
	t.Helper()
	for k, v := range env {
		t.Setenv(k, v)
	}
}

// The two are not one measurement: what UCX has allocated it may store into, what it has
// not it moves as messages, or since 1.16 through the kernel without a copy of its own,
// which is what NIXL gets. What is read back tells them apart.
func TestHeapTakesAnotherWay(t *testing.T) {
	phase.NotUnderRace(t)
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

// Where nobody knows beforehand that there are none, allocating says the same.
func TestAllocationSaysThatThereAreNoHugePages(t *testing.T) {
	phase.NotUnderRace(t)
	for _, pages := range []string{"2MiB", "1GiB"} {
		for _, alloc := range []string{"fabric", "heap"} {
			o := options(1<<40, func(o *move.Spec) { o.Pages, o.Alloc = pages, alloc })
			l := engine.Launch{
				Fabric: "tcp", Ranks: 2, Nodes: []string{"a", "a"}, Cases: []engine.Case{caseOf("a", o, patience, 0)},
			}
			_, err := open(l, engine.Identity{Memory: &engine.Memory{}}, control(t))
			if want := fmt.Sprintf("/sys/kernel/mm/hugepages/hugepages-%dkB/nr_hugepages sets how many",
				o.ReservedPage()>>10); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("pages %s, alloc %s: %v, want %q", pages, alloc, err, want)
			}
		}
	}
}
