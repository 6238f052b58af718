package native

import (
	"fmt"
	"os"
	"testing"

	"weir/test/phase"
	"weir/workload/move"
	"weir/workload/transfer"
)

// What TestPatterns and TestThreads ask of the built-in fabrics and UCX, of each provider
// of libfabric: every pattern, both directions at once, several threads.
func TestLibfabricShapes(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	for _, p := range providers(t) {
		for pattern, initiates := range initiates {
			ranks := 4
			if p == "sockets" {
				if ranks = 2; pattern != "ring" {
					continue // each takes seconds: see fewer
				}
			}
			t.Run(fmt.Sprintf("%s/%s/%d", p, pattern, ranks), func(t *testing.T) {
				for k, results := range runCases(t, "libfabric", ranks, shapes(pattern, ranks, provider(p))...) {
					checkMoved(t, shapes(pattern, ranks, provider(p))[k], results,
						func(rank int) bool { return initiates(rank, ranks) })
				}
			})
		}
		t.Run(p+"/bidirectional", func(t *testing.T) {
			o := options(5000, under("pairwise", 2), bidirectional, provider(p))
			checkMoved(t, o, runCases(t, "libfabric", 2, o)[0], func(int) bool { return true })
		})
		t.Run(p+"/threads", func(t *testing.T) {
			few := func(o *move.Spec) { o.Iterations, o.Warmup, o.InFlight = 6, 1, 3 }
			cases := []move.Spec{
				options(300, threaded(2), few, batch4, provider(p)), options(70000, threaded(2), few, read,
					provider(p)), options(5000, threaded(2), few, pingpong, provider(p)),
			}
			for k, measured := range runCases(t, "libfabric", 2, cases...) {
				checkThreads(t, cases[k], measured, func(rank int) bool { return rank == 0 })
			}
		})
	}
}

func shapes(pattern string, ranks int, change func(*move.Spec)) []move.Spec {
	return []move.Spec{
		options(100, under(pattern, ranks), batch4, change), options(70000, under(pattern, ranks), read, change),
	}
}

// nixlShapes is the same over NIXL, in a process of its own.
func nixlShapes(t *testing.T) error {
	for pattern, initiates := range initiates {
		const ranks = 4
		cases := shapes(pattern, ranks, having())
		all, err := tryCases(t, "nixl", ranks, cases...)
		if err != nil {
			return fmt.Errorf("%s: %w", pattern, err)
		}
		for k, results := range all {
			checkMoved(t, cases[k], results, func(rank int) bool { return initiates(rank, ranks) })
		}
	}
	o := options(5000, under("pairwise", 2), bidirectional)
	both, err := tryCases(t, "nixl", 2, o)
	if err != nil {
		return err
	}
	checkMoved(t, o, both[0], func(int) bool { return true })
	o = options(300, threaded(2), batch4)
	threads, err := tryCases(t, "nixl", 2, o)
	if err != nil {
		return err
	}
	checkThreads(t, o, threads[0], func(rank int) bool { return rank == 0 })
	return nil
}

// largeEnv has TestBeyond32Bits run, which needs 27 GiB of memory and minutes.
const largeEnv = "WEIR_TEST_LARGE"

// Sizes and offsets of more than 32 bits, on each fabric: one block that has so many
// bytes, and blocks of a request that lie so far apart.
func TestBeyond32Bits(t *testing.T) {
	phase.NotUnderRace(t)
	if os.Getenv(largeEnv) == "" {
		t.Skip("needs 27 GiB of memory and minutes: make large sets " + largeEnv)
	}
	once := func(o *move.Spec) { o.Iterations, o.Warmup, o.InFlight = 1, 0, 1 }
	try := func(name, fabric string, ops []func(*move.Spec), change func(*move.Spec)) {
		t.Run(name, func(t *testing.T) {
			needs(t, fabric)
			var cases []move.Spec
			for _, op := range ops {
				cases = append(cases, options(4<<30+4097, once, op, change),
					options(900<<20, once, op, change, func(o *move.Spec) { o.Batch = 5 }))
			}
			for k, ranks := range runCases(t, fabric, 2, cases...) {
				s := ranks[0].Samples
				if want := uint64(cases[k].BlockSize) * uint64(cases[k].Batch); s.Bytes != want || !ranks[0].Verified ||
					!ranks[1].Verified {
					t.Errorf("%v x %d: moved %d bytes, want %d; verified %v %v", cases[k].BlockSize, cases[k].Batch,
						s.Bytes, want, ranks[0].Verified, ranks[1].Verified)
				}
				m, err := transfer.Metrics(cases[k], ranks)
				t.Logf("%s %v x %d: %.3f GB/s, ceiling %.3f, %v", cases[k].Op, cases[k].BlockSize, cases[k].Batch,
					m["bandwidth"], m["ceiling"], err)
			}
		})
	}
	write := func(*move.Spec) {}
	both := []func(*move.Spec){write, read}
	for _, fabric := range []string{"shm", "tcp", "ucx"} {
		try(fabric, fabric, both, write)
	}
	for _, name := range []string{"am", "tag"} {
		try("ucx "+name, "ucx", both[:1], api(name))
	}
	for _, p := range providers(t) {
		try("libfabric "+p, "libfabric", both, provider(p))
	}
}
