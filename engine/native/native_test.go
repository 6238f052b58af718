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

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// patience bounds tests that hang if something is wrong, on a machine that may be busy.
const patience = 2 * time.Minute

// runCases runs cases between the ranks of one launch, all in this process: they share only what ranks of a
// host share anyway.
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
			if err := runRank(l, r, addresses, func(k int, res *move.Part) { out[k][i] = res }); err != nil {
				once.Do(func() {
					first = fmt.Errorf("rank %d: %w%s", i, err, describeRanks(controls))
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

// runRank runs a rank once all addresses are known.
func runRank(l engine.Launch, r *rank, addresses [][]byte, took func(k int, res *move.Part)) error {
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

// openConnected returns the connected ranks of a launch, for a test to use.
func openConnected(t testing.TB, fabric string, nodes []string, options ...move.Spec) (engine.Launch, []*rank) {
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

// openUnequal returns ranks with different options each, not yet connected.
func openUnequal(t *testing.T, fabric string, each ...move.Spec) ([]*rank, [][]byte) {
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

// onNodes runs one case between ranks with these nodes.
func onNodes(t testing.TB, fabric string, nodes []string, o move.Spec) []*move.Part {
	t.Helper()
	l, ranks := openConnected(t, fabric, nodes, o)
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
	// never unmapped: the thread of an abandoned rank still reads it
	return engine.ControlAt(page)
}

// shortenCeilings shortens the ceiling probes of hundreds of cases that do not test them, if the tag weirtest
// permits it.
var shortenCeilings = func() {}

func TestMain(m *testing.M) {
	for _, e := range fabric.RankEnv() { // before a vendor library is loaded
		name, value, _ := strings.Cut(e, "=")
		os.Setenv(name, value)
	}
	if os.Getenv(benchRankEnv) != "" {
		os.Exit(benchRank())
	}
	if os.Getenv(nixlChildEnv) == "" { // these use the default environment
		connectTimeout, closeTimeout = time.Minute, time.Minute
	}
	flag.Parse()
	// with the race detector all concurrency is C except for this
	if phase.Race && flag.Lookup("test.run").Value.String() == "" {
		flag.Set("test.run", "Threads|BetweenHosts")
	}
	if flag.Lookup("test.bench").Value.String() == "" {
		shortenCeilings()
	}
	forgetSharedOf(os.Getpid())
	code := m.Run()
	forgetSharedOf(os.Getpid())
	os.Exit(code)
}

// forgetSharedOf removes libfabric's shared files of abandoned or killed ranks. A later process with the same
// number would find them busy.
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

// withOptions sets options of the fabric, each by its name and value.
func withOptions(pairs ...string) func(*move.Spec) {
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

// stampOneIn makes cases stamp one in every requests from now on, whatever their size (0: the default), until
// the returned function is called.
func stampOneIn(every int) (usually func()) {
	before := stampedOf
	if every > 0 {
		stampedOf = func(uint64, uint64, bool) (int, uint64) { return every, 0 }
	}
	return func() { stampedOf = before }
}
