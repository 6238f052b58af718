//go:build weirtest

package native

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/move"
)

// The rows of the table, by peer.

// memcpyRows compares the stream over shm with the best single-thread copy, which is probed before and after
// it in the same launch, on the same buffers.
func memcpyRows(t *benchTable) []comparison {
	const section = "shm and memcpy"
	t.note(section, "The peer is the best of memcpy, `rep movsb` and non-temporal copies, probed in the same launch on the same buffers.")
	list := ceilingRows(section, "shm", benchSizes[1:])
	for i := range list {
		if list[i].size >= 1<<20 { // small blocks have no bar
			list[i].bar = bar{0.97, true}
		}
	}
	return list
}

// probeRows show that a fabric's own probe finds the capacity of its path: assertions treat 1.10 of it as
// impossible.
func probeRows(t *benchTable) []comparison {
	const section = "ucx and its ceiling"
	if !(native{}).Probe([]string{"ucx"})["ucx"].Available {
		return nil
	}
	t.note(section, "The peer is the probe of the same launch: puts of the same size.")
	return ceilingRows(section, "ucx", benchSizes[3:])
}

func ceilingRows(section, fabric string, sizes []quantity.Size) []comparison {
	var list []comparison
	for _, size := range sizes {
		list = append(list, comparison{section: section, what: "stream", size: size, unit: "GB/s",
			together: func(b *testing.B, n int64) (float64, float64) {
				m := weirRun(b, fabric, nil, benchOptions(size, n)).Metrics
				return m["bandwidth"], m["ceiling.bandwidth"]
			}})
	}
	return list
}

var ucxTests = []ucxTest{
	{name: "put_bw", perftest: "ucp_put_bw", api: "rma", op: "write", mode: "stream", window: 32},
	{name: "get", perftest: "ucp_get", api: "rma", op: "read", mode: "stream", window: 1},
	{name: "put_lat", perftest: "ucp_put_lat", api: "rma", op: "write", mode: "pingpong", window: 1},
	{name: "tag_bw", perftest: "tag_bw", api: "tag", op: "write", mode: "stream", window: 32},
}

// ucxTransport is a value of UCX_TLS, and the UCX that it applies to.
type ucxTransport struct {
	name     string
	env      []string
	emulated bool // puts or gets are executed by the target's progress
	sizes    []quantity.Size
	tests    []ucxTest
	program  string // its ucx_perftest
}

// ucxTransports returns those of the installed UCX, and UCX's own choice also with the newest UCX, if
// BENCH_UCX or `test/newest/build ucx` provides it. cma alone cannot connect.
func ucxTransports(t *benchTable) []ucxTransport {
	var list []ucxTransport
	if (native{}).Probe([]string{"ucx"})["ucx"].Available && t.present("ucx_perftest", "ucx-utils") {
		const program = "ucx_perftest"
		list = []ucxTransport{
			{"posix", []string{"UCX_TLS=posix"}, false, benchSizes, ucxTests, program},
			{"sysv", []string{"UCX_TLS=sysv"}, false, benchSizes, ucxTests, program},
			{"cma", []string{"UCX_TLS=posix,cma"}, false, benchSizes, ucxTests, program},
			{"tcp", []string{"UCX_TLS=tcp", "UCX_NET_DEVICES=lo"}, true, benchSizes, ucxTests, program},
			{"own choice", nil, false, ownChoiceSizes, ucxTests[:1], program},
		}
	}
	newest := cmp.Or(os.Getenv("BENCH_UCX"), "../../.build/newest/ucx-1.22.0")
	newest, err := filepath.Abs(newest)
	if _, none := os.Stat(newest); err != nil || none != nil {
		t.note("ucx newest own choice", "Not measured: `test/newest/build ucx` could not fetch it.")
		return list
	}
	env := []string{
		"LD_LIBRARY_PATH=" + filepath.Join(newest, "lib"), "UCX_MODULE_DIR=" + filepath.Join(newest, "lib", "ucx"),
	}
	return append(list, ucxTransport{
		"newest own choice", env, false, ownChoiceSizes, ucxTests[:1], filepath.Join(newest, "bin", "ucx_perftest"),
	})
}

// ownChoiceSizes includes the sizes at which UCX changes its protocol.
var ownChoiceSizes = []quantity.Size{4 << 10, 8 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20, 64 << 20}

func ucxRows(t *benchTable) []comparison {
	var list []comparison
	for _, tls := range ucxTransports(t) {
		for _, test := range tls.tests {
			test.program = tls.program
			for _, size := range tls.sizes {
				section := "ucx " + tls.name
				o := func(n int64) move.Spec {
					return benchOptions(size, n, api(test.api), func(o *move.Spec) {
						o.Op, o.Mode, o.InFlight = test.op, test.mode, test.window
					})
				}
				c := comparison{section: section, what: test.name, size: size, unit: "GB/s", bar: bar{1, true}}
				if test.mode == "pingpong" {
					c.unit, c.bar = "µs", bar{1, false}
				}
				c.weir = func(b *testing.B, n int64) float64 { return weirRun(b, "ucx", tls.env, o(n)).speed(o(n)) }
				c.peer = func(b *testing.B, n int64) (float64, string) {
					v, run := perftest(b, tls.env, test, size, n)
					if tls.emulated && test.mode == "stream" && run.busy < 0.5 {
						return v, "the peer understates: its target, which must carry the transfers out, slept"
					}
					return v, ""
				}
				c.describe = func(b *testing.B) []string { return describeUCX(b, tls.env, test, o(fewestIterations)) }
				list = append(list, c)
			}
		}
	}
	return list
}

// describeUCX notes both sides' versions, and checks that their lanes are equal.
func describeUCX(b *testing.B, env []string, test ucxTest, o move.Spec) []string {
	lines := describeLanes(b, env, test, o)
	lines[0] += " ucp_put_bw has a window of 32, ucp_get of 1; ucp_put_lat marks its last byte."
	return lines
}

// describeLanes notes both sides' lanes, and checks that the buffers are equal.
func describeLanes(b *testing.B, env []string, test ucxTest, o move.Spec) []string {
	var transport string
	ours := ucxLanes(b, func(log []string) { transport = weirRun(b, "ucx", append(log, env...), o).Transport })
	theirs := ucxLanes(b, func(log []string) { perftest(b, append(log, env...), test, o.BlockSize, o.Iterations) })
	equal := "equal"
	if ours != theirs {
		equal = "**not equal**"
		b.Errorf("%v, %s: lanes are not equal: weir has %s, ucx_perftest %s", env, test.name, ours, theirs)
	}
	return []string{
		fmt.Sprintf("`%v`, memory of both sides from ucp_mem_map and written (the peer would not write what it sends), weir's transport %s.",
			env, transport),
		fmt.Sprintf("%s: lanes are %s: weir `%s`, ucx_perftest `%s`.", test.name, equal, ours, theirs),
	}
}

// libfabricRows compares fi_pingpong, which sends and receives messages, with weir's writes with remote CQ
// data: equal results for the user, not equal calls.
func libfabricRows(t *benchTable) []comparison {
	if !(native{}).Probe([]string{"libfabric"})["libfabric"].Available || !t.present("fi_pingpong", "libfabric-bin") {
		return nil
	}
	var list []comparison
	for _, p := range []string{"tcp", "shm"} {
		for _, size := range benchSizes {
			c := comparison{section: "libfabric " + p, what: "pingpong", size: size, unit: "µs", bar: bar{1, false}}
			o := func(n int64) move.Spec { return benchOptions(size, n, pingpong, provider(p)) }
			c.weir = func(b *testing.B, n int64) float64 { return weirRun(b, "libfabric", nil, o(n)).speed(o(n)) }
			c.peer = func(b *testing.B, n int64) (float64, string) { return fiPingpong(b, p, size, n), "" }
			c.describe = func(b *testing.B) []string {
				m := weirRun(b, "libfabric", nil, o(fewestIterations))
				return []string{
					fmt.Sprintf("fi_pingpong -e rdm -p %s sends and receives messages; weir writes with data, %s. Memory of both is their own, registered.",
						p, m.Transport),
				}
			}
			list = append(list, c)
		}
	}
	return list
}

// shmRows compares the built-in fabric with a library's.
func shmRows(t *benchTable) []comparison {
	const size = quantity.Size(8)
	o := func(n int64) move.Spec { return benchOptions(size, n, pingpong) }
	ours := func(b *testing.B, n int64) float64 { return weirRun(b, "shm", nil, o(n)).speed(o(n)) }

	const floor = "shm and the processors"
	t.note(floor, "The peer is not a program: the time until a word stored by one processor is seen by the other, which polls it.")
	list := []comparison{{section: floor, what: "put_lat", size: size, unit: "µs", weir: ours,
		peer: func(b *testing.B, n int64) (float64, string) {
			ns := handover(t.cpus, n)
			if ns < 0 {
				b.Fatalf("no thread could be kept on processor %d or %d", t.cpus[0], t.cpus[1])
			}
			return ns / 1e3, ""
		}}}
	if !t.present("ucx_perftest", "ucx-utils") {
		return list
	}
	test := ucxTest{"put_lat", "ucp_put_lat", "rma", "write", "pingpong", 1, "ucx_perftest"}
	c := comparison{
		section: "shm and ucx posix", what: "put_lat", size: size, unit: "µs", bar: bar{0.5, false}, weir: ours,
	}
	c.peer = func(b *testing.B, n int64) (float64, string) {
		v, _ := perftest(b, []string{"UCX_TLS=posix"}, test, size, n)
		return v, ""
	}
	return append(list, c)
}

// tcpRows compares the built-in tcp with iperf3 with as many streams, each of which is a thread of weir's
// ranks; iperf3 has threads from version 3.16 on.
func tcpRows(t *benchTable) []comparison {
	if !t.present("iperf3", "iperf3") {
		return nil
	}
	const section, block = "tcp and iperf3", 128 << 10
	t.note(section, "Blocks of 128 KiB, iperf3's default, over 127.0.0.1; iperf3 runs for 1 s.")
	var list []comparison
	for _, streams := range []int64{1, 4} {
		c := comparison{
			section: section, what: fmt.Sprintf("%d streams", streams), size: block, unit: "GB/s", bar: bar{1, true},
		}
		c.weir = func(b *testing.B, n int64) float64 {
			return weirRun(b, "tcp", nil, benchOptions(block, n,
				func(o *move.Spec) { o.Threads = streams })).Metrics["bandwidth"]
		}
		c.peer = func(b *testing.B, _ int64) (float64, string) { return iperf3(b, streams, block), "" }
		list = append(list, c)
	}
	return list
}
