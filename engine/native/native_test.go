package native

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/engine"
	"weir/fabric"
	"weir/quantity"
	"weir/test/phase"
	"weir/workload/move"
	"weir/workload/transfer"
)

// patience bounds what only hangs where something is wrong, on a machine that may have
// much else to do.
const patience = 2 * time.Minute

// runCases runs cases between the ranks of one launch, all in this process:
// what they share with each other is only what ranks of a host share anyway.
func runCases(t testing.TB, fabric string, ranks int, options ...move.Spec) [][]*move.Part {
	t.Helper()
	out, err := tryCases(t, fabric, ranks, options...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryCases(t testing.TB, fabric string, ranks int, options ...move.Spec) ([][]*move.Part, error) {
	t.Helper()
	l := engine.Launch{ID: "test", Fabric: fabric, Ranks: ranks, Seed: 42}
	for i, o := range options {
		l.Cases = append(l.Cases, caseOf(string(rune('a'+i)), o, patience, patience))
	}
	for range ranks {
		l.Nodes = append(l.Nodes, "here")
	}
	rs := make([]*rank, ranks)
	addresses := make([][]byte, ranks)
	controls := make([]*engine.Control, ranks)
	free := freeMemory()
	for i := range rs {
		controls[i] = control(t)
		r, err := open(l, engine.Identity{Rank: i, Memory: &free}, controls[i])
		if err != nil {
			return nil, err
		}
		rs[i] = r
		if addresses[i], err = r.Address(); err != nil {
			return nil, err
		}
	}
	out := make([][]*move.Part, len(options))
	for i := range out {
		out[i] = make([]*move.Part, ranks)
	}
	var first error // the others fail because they are told to stop
	var once sync.Once
	var wg sync.WaitGroup
	for i, r := range rs {
		wg.Go(func() {
			if err := goThrough(l, r, addresses, func(k int, res *move.Part) { out[k][i] = res }); err != nil {
				once.Do(func() {
					first = fmt.Errorf("rank %d: %w%s", i, err, whereRanksAre(controls))
					for _, ctl := range controls { // as an agent does
						ctl.Abort.Store(1)
					}
				})
			}
		})
	}
	wg.Wait()
	return out, first
}

// connectedPair opens the two ranks of a launch and connects them.
func connectedPair(t testing.TB, l engine.Launch) (ranks [2]*rank, err error) {
	t.Helper()
	var addresses [2][]byte
	for i := range ranks {
		if ranks[i], err = open(l, engine.Identity{Rank: i}, control(t)); err != nil {
			return ranks, err
		}
		if addresses[i], err = ranks[i].Address(); err != nil {
			return ranks, err
		}
	}
	connected := make(chan error, len(ranks))
	for _, r := range ranks {
		go func() { connected <- r.Connect(addresses[:]) }()
	}
	return ranks, errors.Join(<-connected, <-connected)
}

// goThrough is what a rank does once all addresses are known.
func goThrough(l engine.Launch, r *rank, addresses [][]byte, took func(k int, res *move.Part)) error {
	if err := r.Connect(addresses); err != nil {
		return err
	}
	for k, c := range l.Cases {
		res, err := r.measure(c.Key)
		if err != nil {
			return err
		}
		took(k, res)
	}
	return r.Close()
}

// opened are the connected ranks of a launch, of which a test does what it likes.
func opened(t testing.TB, fabric string, nodes []string, options ...move.Spec) (engine.Launch, []*rank) {
	t.Helper()
	l := engine.Launch{ID: "test", Fabric: fabric, Ranks: len(nodes), Nodes: nodes, Seed: 42}
	for i, o := range options {
		l.Cases = append(l.Cases, caseOf(string(rune('a'+i)), o, patience, patience))
	}
	ranks := make([]*rank, len(nodes))
	addresses := make([][]byte, len(nodes))
	free := freeMemory()
	for i := range ranks {
		r, err := open(l, engine.Identity{Rank: i, Memory: &free}, control(t))
		if err != nil {
			t.Fatal(err)
		}
		if addresses[i], err = r.Address(); err != nil {
			t.Fatal(err)
		}
		ranks[i] = r
	}
	errs := make(chan error, len(nodes))
	for _, r := range ranks {
		go func() { errs <- r.Connect(addresses) }()
	}
	for range ranks {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	return l, ranks
}

// unlike are ranks of which each was told something else, not yet connected.
func unlike(t *testing.T, fabric string, each ...move.Spec) ([]*rank, [][]byte) {
	t.Helper()
	ranks, addresses := make([]*rank, len(each)), make([][]byte, len(each))
	for i, o := range each {
		l := engine.Launch{
			Fabric: fabric, Ranks: len(each), Nodes: slices.Repeat([]string{"a"}, len(each)),
			Cases: []engine.Case{caseOf("a", o, patience, patience)},
		}
		var err error
		if ranks[i], err = open(l, engine.Identity{Rank: i}, control(t)); err != nil {
			t.Fatal(err)
		}
		if addresses[i], err = ranks[i].Address(); err != nil {
			t.Fatal(err)
		}
	}
	return ranks, addresses
}

// onNodes runs one case between ranks that are told to be on these nodes.
func onNodes(t testing.TB, fabric string, nodes []string, o move.Spec) []*move.Part {
	t.Helper()
	l, ranks := opened(t, fabric, nodes, o)
	out := make([]*move.Part, len(ranks))
	errs := make(chan error, len(ranks))
	for i, r := range ranks {
		go func() {
			var err error
			if out[i], err = r.measure(l.Cases[0].Key); err == nil {
				err = r.Close()
			}
			errs <- err
		}()
	}
	for range ranks {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func control(t testing.TB) *engine.Control {
	t.Helper()
	page, err := unix.Mmap(-1, 0, engine.ControlSize, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	// never unmapped: the thread of a rank that was given up still reads it
	return engine.ControlAt(page)
}

// shortenCeilings shortens the probes of hundreds of cases that nobody asks for their
// ceiling, where the tag weirtest lets it.
var shortenCeilings = func() {}

func TestMain(m *testing.M) {
	for _, e := range fabric.RankEnv() { // before a vendor library is loaded
		name, value, _ := strings.Cut(e, "=")
		os.Setenv(name, value)
	}
	if os.Getenv(benchRankEnv) != "" {
		os.Exit(benchRank())
	}
	if os.Getenv(nixlChildEnv) == "" { // these are asked for the usual words
		connectTimeout, closeTimeout = time.Minute, time.Minute
	}
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		shortenCeilings()
	}
	forgetSharedOf(os.Getpid())
	code := m.Run()
	forgetSharedOf(os.Getpid())
	os.Exit(code)
}

// forgetSharedOf removes what libfabric keeps for a process that cannot do it itself:
// ranks that were abandoned or killed. Who has its number later would find it busy.
func forgetSharedOf(pid int) {
	left, _ := filepath.Glob(fmt.Sprintf("/dev/shm/%d:*", pid)) // only a bad pattern is an error
	for _, path := range left {
		os.Remove(path)
	}
}

func options(size quantity.Size, change ...func(*move.Spec)) move.Spec {
	o := move.Spec{
		Op: "write", Initiator: "dram", Target: "dram", Pattern: "pairwise", Mode: "stream", Verify: "sample",
		Reuse: "hot", Pages: "default", Payload: "random",
		BlockSize: size, Batch: 1, Iterations: 200, Warmup: 10, InFlight: 16, Threads: 1, Ranks: 2,
	}
	for _, f := range change {
		f(&o)
	}
	return o
}

// having sets options that belong to the fabric, each by its name and value.
func having(pairs ...string) func(*move.Spec) {
	return func(o *move.Spec) {
		all := fabric.Options{}
		maps.Copy(all, o.FabricOptions)
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = pairs[i+1]
		}
		o.FabricOptions = all
	}
}

func read(o *move.Spec)     { o.Op = "read" }
func pingpong(o *move.Spec) { o.Mode = "pingpong" }
func batch4(o *move.Spec)   { o.Batch = 4 }
func full(o *move.Spec)     { o.Verify, o.Iterations = "full", 20 }

func TestTransfer(t *testing.T) {
	phase.NotUnderRace(t)
	for _, fabric := range []string{"shm", "tcp", "ucx", "libfabric"} {
		t.Run(fabric, func(t *testing.T) {
			if f := (native{}).Probe([]string{fabric})[fabric]; !f.Available {
				t.Skipf("no %s here: %s", fabric, f.Reason)
			}
			cases := []move.Spec{
				options(1), options(8), options(4096), options(4097, batch4), options(1<<20, read),
				options(100, read, batch4),
				options(8, pingpong), options(1, pingpong), options(100000, pingpong), options(64<<10, full),
				options(5000, read, full), options(333, pingpong, full),
			}
			checkTransfer(t, fabric, cases)
		})
	}
}

// Short messages over shm travel in one cache line with their marks, longer ones beside it.
func TestMessagesOfEachLength(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	var cases []move.Spec
	for size := quantity.Size(1); size <= 66; size++ {
		cases = append(cases, options(size, pingpong, full))
	}
	checkTransfer(t, "shm", cases)
}

// Where a stamp needs a flush, one in 256 of small requests is enough as long as there
// are many.
func TestStampsWithFlush(t *testing.T) {
	phase.NotUnderRace(t)
	needs(t, "ucx")
	many := func(o *move.Spec) { o.Iterations, o.Verify = 256*256, "none" }
	few := func(o *move.Spec) { o.Iterations, o.Verify = 256*256-1, "none" }
	ranks := runCases(t, "ucx", 2, options(512, api("tag"), many), options(512, api("tag"), few),
		options(512, api("rma"), many), options(64<<10, api("tag"), few))
	for k, want := range []int{256, 64, 256, 16} {
		s := ranks[k][0].Samples
		var stamped int64
		for _, n := range s.Counts {
			stamped += n
		}
		if all := int64(256*256+want-1) / int64(want); s.Every != want || stamped != all {
			t.Errorf("case %d: %d stamps, one in %d, want %d, one in %d", k, stamped, s.Every, all, want)
		}
	}
}

// checkTransfer runs the cases between two ranks: all bytes are counted, all stamps
// taken, and both ends verified what they received.
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
		if s.Bytes != want {
			t.Errorf("case %d: %d bytes, want %d", k, s.Bytes, want)
		}
		if every := move.StampedOneIn(want/uint64(o.Iterations), uint64(o.Iterations), false); s.Every != every {
			t.Errorf("case %d: one request of %v in %d is stamped, want one in %d", k, o.BlockSize, s.Every, every)
		}
		var stamped int64
		for _, n := range s.Counts {
			stamped += n
		}
		if wantStamps := (o.Iterations + int64(s.Every) - 1) / int64(s.Every); stamped != wantStamps {
			t.Errorf("case %d: %d stamps, want %d", k, stamped, wantStamps)
		}
		if !ranks[0].Verified || !ranks[1].Verified || ranks[1].Samples != nil {
			t.Errorf("case %d: verified %v %v, target's samples %v", k, ranks[0].Verified, ranks[1].Verified,
				ranks[1].Samples)
		}
		t.Logf("%-5s %-8s %8v x%d: %8.3f GB/s  ceiling %6.3f  p50 %.3g us  %s", o.Op, o.Mode, o.BlockSize, o.Batch,
			m["bandwidth"], m["ceiling"], m["latency.p50"]*1e6, ranks[0].Transport)
	}
}

// stampOneIn has cases that are run from now on stamp one request in so many, whatever
// its size (0: as usual), until the function that it returns is called.
func stampOneIn(every int) (usually func()) {
	before := stampedOneIn
	if every > 0 {
		stampedOneIn = func(uint64, uint64, bool) int { return every }
	}
	return func() { stampedOneIn = before }
}
