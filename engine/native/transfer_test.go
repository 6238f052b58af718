package native

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/transfer"
)

// Every size, batch and window arrives at its place, byte for byte, in every iteration, over every path.
func TestTransfer(t *testing.T) {
	for _, w := range testPaths(t) {
		if w.wanted() {
			w.run(t, func(t *testing.T, w testPath) { checkTransfer(t, w.fabric, w.apply(transfers(w)...)) })
		}
	}
}

func transfers(w testPath) (cases []move.Spec) {
	sizes := []quantity.Size{1, 8, 4097, 1<<20 + 1}
	hows := [][]func(*move.Spec){{}, {batch4, window(3)}, {pingpong}}
	if w.reads() {
		hows = append(hows, []func(*move.Spec){read}, []func(*move.Spec){read, batch4})
	}
	if phase.Whole() && !w.memory {
		sizes = append(sizes, 333, 4096, 8192, 9000, 64<<10+1)
		hows = append(hows, []func(*move.Spec){window(1)}, []func(*move.Spec){window(100)})
	}
	for _, size := range sizes {
		for _, how := range hows {
			cases = append(cases, options(size, append(how, full)...))
		}
	}
	many := func(o *move.Spec) { o.Iterations = 5000 } // more than receivers can queue
	cases = append(cases, options(8, many), options(8, many, pingpong))
	if phase.Whole() && !w.memory {
		big := func(o *move.Spec) { o.Iterations, o.Warmup, o.InFlight = 3, 1, 2 }
		cases = append(cases, options(2000, many, window(4096)), options(64<<20, full, big),
			options(64<<20, full, big, pingpong))
	}
	if w.options()["datatype"] == "iov" {
		// more than a list has space for
		cases = append(cases, options(100, full, func(o *move.Spec) { o.Batch = 300 }))
	}
	// each case restarts message numbers at 1: the last message of a case with one must not be taken for the
	// first of the next
	for range 3 {
		cases = append(cases, options(300000, pingpong, func(o *move.Spec) { o.Iterations, o.Warmup = 1, 0 }))
	}
	return cases
}

// checkTransfer runs the cases between two ranks: all bytes are counted, all stamps taken, and both ends
// verified what they received.
func checkTransfer(t *testing.T, fabric string, cases []move.Spec) {
	t.Helper()
	for k, ranks := range runCases(t, fabric, 2, cases...) {
		o := cases[k]
		m, err := transfer.Metrics(o, ranks)
		if err != nil {
			t.Fatal(err)
		}
		s := ranks[0].Samples
		want := uint64(o.BlockSize) * uint64(o.Batch) * uint64(o.Iterations)
		if o.Mode == "pingpong" {
			want *= 2
		}
		every, count := move.Stamped(want/uint64(o.Iterations), uint64(o.Iterations), false)
		if s.Bytes != want || s.Every != every {
			t.Errorf("case %d: %d bytes, want %d; one request of %v in %d is stamped, want one in %d", k, s.Bytes, want,
				o.BlockSize, s.Every, every)
		}
		if got, want := stamped(ranks[0]), int64(count); got != want {
			t.Errorf("case %d: %d stamps, want %d", k, got, want)
		}
		if !ranks[0].Verified || !ranks[1].Verified || ranks[1].Samples != nil {
			t.Errorf("case %d: verified %v %v, target's samples %v", k, ranks[0].Verified, ranks[1].Verified,
				ranks[1].Samples)
		}
		t.Logf("%-5s %-8s %8v x%d: %8.3f GB/s  ceiling %6.3f  p50 %.3g us  %s", o.Op, o.Mode, o.BlockSize, o.Batch,
			m["bandwidth"], m["ceiling"], m["latency.p50"]*1e6, ranks[0].Transport)
	}
}

// stamped returns the number of requests with a latency.
func stamped(p *move.Part) (n int64) {
	for _, count := range p.Samples.Counts {
		n += count
	}
	return n
}

// Short messages over shm are inside a cache line with their sequence words, longer ones beside it.
func TestMessagesOfEachLength(t *testing.T) {
	phase.Long(t)
	var cases []move.Spec
	for size := quantity.Size(1); size <= 66; size++ {
		cases = append(cases, options(size, pingpong, full))
	}
	checkTransfer(t, "shm", cases)
}

// If a stamp needs a flush, one in 256 of small requests is enough as long as there are many.
func TestStampsWithFlush(t *testing.T) {
	needs(t, "ucx")
	many := func(o *move.Spec) { o.Iterations, o.Verify = 256*256, "none" }
	few := func(o *move.Spec) { o.Iterations, o.Verify = 256*256-1, "none" }
	ranks := runCases(t, "ucx", 2, options(512, api("tag"), many), options(512, api("tag"), few),
		options(512, api("rma"), many), options(64<<10, api("tag"), few))
	for k, want := range []struct {
		every int
		count int64
	}{{256, 256}, {255, 256}, {256, 256}, {16, 4095}} {
		got, every := stamped(ranks[k][0]), ranks[k][0].Samples.Every
		if every != want.every || got != want.count {
			t.Errorf("case %d: %d stamps, one in %d, want %d, one in %d", k, got, every, want.count, want.every)
		}
	}
}

// Over each path, and in each direction, a byte flipped after arrival is found, before the timed part and
// after it.
func TestWrongByteOverEachFabric(t *testing.T) {
	phase.Long(t)
	eachPath(t, func(t *testing.T, w testPath) {
		for op, change := range map[string]func(*move.Spec){
			"write": func(*move.Spec) {}, "read": read, "pingpong": pingpong,
		} {
			receiver, sender := 1, 0
			if op == "read" {
				receiver, sender = 0, 1
				if !w.reads() {
					continue
				}
			}
			for when, words := range map[string]string{"": "an untimed pass", ":timed": "the timed part"} {
				o := w.apply(options(5000, change, func(o *move.Spec) { o.Iterations, o.Warmup, o.InFlight = 5, 1, 2 }))
				t.Setenv(CorruptEnv, fmt.Sprintf("%d:4321%s", receiver, when))
				want := fmt.Sprintf("wrong data from rank %d to rank %d after %s: byte 4321 of", sender, receiver,
					words)
				if _, err := tryCases(t, w.fabric, 2, o...); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: got %v, want %q", op, err, want)
				}
			}
		}
	})
}

// largeEnv enables TestBeyond32Bits, which needs 27 GiB of memory and minutes.
const largeEnv = "WEIR_TEST_LARGE"

// Sizes and offsets of more than 32 bits, over each path: one block of that size, and blocks of a request
// that far apart.
func TestBeyond32Bits(t *testing.T) {
	if os.Getenv(largeEnv) == "" {
		t.Skip("needs 27 GiB of memory and minutes: make large sets " + largeEnv)
	}
	once := func(o *move.Spec) { o.Iterations, o.Warmup, o.InFlight = 1, 0, 1 }
	eachPath(t, func(t *testing.T, w testPath) {
		cases := []move.Spec{
			options(4<<30+4097, once), options(900<<20, once, func(o *move.Spec) { o.Batch = 5 }),
		}
		if w.reads() {
			cases = append(cases, options(4<<30+4097, once, read),
				options(900<<20, once, read, func(o *move.Spec) { o.Batch = 5 }))
		}
		for i := range cases {
			w.change(&cases[i])
		}
		checkTransfer(t, w.fabric, cases)
	})
}

// The stamps of iterations that they do not divide are as many, evenly spread, by each way to move.
func TestStampsAreSpread(t *testing.T) {
	for _, n := range []int64{1, 100, 128, 129, 200, 1000} {
		o := options(8, window(1))
		o.Iterations, o.Verify = n, "none"
		ping := o
		ping.Mode = "pingpong"
		deep := options(8, window(8))
		deep.Iterations, deep.Verify = n, "none"
		for _, o := range []move.Spec{o, ping, deep} {
			parts := runCases(t, "shm", 2, o)[0]
			every, count := move.Stamped(8, uint64(n), false)
			if got := stamped(parts[0]); got != int64(count) || parts[0].Samples.Every != every {
				t.Errorf("%s of %d: %d stamps, one in %d; want %d, one in %d", o.Mode, n, got, parts[0].Samples.Every,
					count, every)
			}
		}
	}
}
