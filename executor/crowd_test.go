package executor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"weir/engine"
	"weir/engine/sim"
	"weir/executor/cluster"
	"weir/executor/event"
	"weir/fabric"
	"weir/planner"
	"weir/quantity"
	"weir/results"
	"weir/workload"
	"weir/workload/move"
)

// playedEngine is an engine whose ranks measure what package sim says that they do. They
// take every step of a rank; what they move is played, once for all ranks of a launch.
type playedEngine struct {
	mu       sync.Mutex
	launches map[string]*playedLaunch
}

// playedLaunch is a launch that some ranks still need.
type playedLaunch struct {
	play  func() (*engine.Played, error)
	ranks int // that have not closed
}

func newPlayedEngine() *playedEngine {
	return &playedEngine{launches: map[string]*playedLaunch{}}
}

func (*playedEngine) Probe(fabrics []string) map[string]results.Fabric {
	return map[string]results.Fabric{"tcp": {Available: true, Version: "played"}}
}

func (e *playedEngine) Open(l engine.Launch, self engine.Identity, control *engine.Control) (engine.Rank, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.launches[l.ID]
	if p == nil {
		p = &playedLaunch{
			sync.OnceValues(func() (*engine.Played, error) { return sim.New().Play(asPlayed(l)) }), l.Ranks,
		}
		e.launches[l.ID] = p
	}
	return &playedRank{ranks: l.Ranks, rank: self.Rank, control: control, play: p.play,
		close: func() { e.left(l.ID, p) }}, nil
}

// left forgets a launch that no rank needs any more.
func (e *playedEngine) left(id string, p *playedLaunch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.ranks--; p.ranks == 0 {
		delete(e.launches, id)
	}
}

// asPlayed is a launch as package sim takes it.
func asPlayed(l engine.Launch) engine.Launch {
	l.Fabric, l.Cases = fabric.SimName, slices.Clone(l.Cases)
	for i, c := range l.Cases {
		o, err := move.Read(c.Spec, c.Large)
		if err != nil {
			panic(err)
		}
		o.Fabric, o.Sim = fabric.SimName, &fabric.Simulation{
			Latency: quantity.Time(2000), Bandwidth: quantity.Rate(10e9), Noise: 0.01, Seed: 1,
		}
		if l.Cases[i], err = engine.NewCase(c.Key, &o, time.Duration(c.Timeout), c.Large); err != nil {
			panic(err)
		}
	}
	return l
}

type playedRank struct {
	ranks, rank, next int
	control           *engine.Control
	play              func() (*engine.Played, error)
	close             func()
}

// address tells ranks apart.
func address(rank int) uint64 { return uint64(rank)*0x9e3779b97f4a7c15 + 1 }

func (r *playedRank) Address() ([]byte, error) {
	return binary.BigEndian.AppendUint64(nil, address(r.rank)), nil
}

func (r *playedRank) Connect(addresses [][]byte) error {
	for i, a := range addresses {
		if len(a) != 8 || binary.BigEndian.Uint64(a) != address(i) {
			return fmt.Errorf("rank %d has the address % x", i, a)
		}
	}
	if len(addresses) != r.ranks {
		return fmt.Errorf("there are %d addresses", len(addresses))
	}
	return nil
}

func (r *playedRank) Run(engine.Case) (*workload.Part, error) {
	r.control.Phase.Store(engine.PhaseRun)
	r.control.Heartbeat.Add(1)
	p, err := r.play()
	if err != nil {
		return nil, err
	}
	if p.Failure != nil {
		return nil, errors.New(p.Failure.Cause)
	}
	r.next++
	return p.Cases[r.next-1].Ranks[r.rank], nil
}

func (r *playedRank) Close() error {
	r.close()
	return nil
}

// eachAgent is how many ranks a crowd's agent has.
const eachAgent = 8

// crowdLaunch is what a launch of a crowd took, in whole and per kind of request to etcd.
type crowdLaunch struct {
	took     time.Duration
	busy     time.Duration // of all processors, for the whole process
	requests map[string]int
}

func (l crowdLaunch) sum() (all int) {
	for _, n := range l.requests {
		all += n
	}
	return all
}

// agentsFor is how many agents so many ranks are on.
func agentsFor(ranks int) int { return max(2, (ranks+eachAgent-1)/eachAgent) }

// crowd has so many agents, each with its own connection to one etcd, carry a case of so
// many ranks through some launches.
func (b *bench) crowd(ranks, launches int) []crowdLaunch {
	b.t.Helper()
	server, err := cluster.StartServer(b.t.Context(), etcdDir(b.t))
	if err != nil {
		b.t.Fatal(err)
	}
	defer server.Close()
	agents := agentsFor(ranks)
	c := aCase("c", option("fabric", "tcp"), option("ranks", int64(ranks)),
		func(c *planner.Case) { c.Place.Nodes = agents })
	var all []crowdLaunch
	var began time.Time
	var busy time.Duration
	var before map[string]int
	doc := b.run(aPlan([]*planner.Case{c}, aGroup("g", []*planner.Case{c}, launches)), func(o *Options) {
		o.Etcd, o.inside, o.Host = server.Config(), newPlayedEngine(), fstest.MapFS{}
		for i := range agents {
			o.Nodes = append(o.Nodes, fmt.Sprintf("n%04d", i))
		}
		keep := o.Events
		o.Events = func(e event.Event) {
			switch e.Type {
			case event.LaunchStarted:
				began, busy, before = time.Now(), processorTime(b.t), server.Requests()
			case event.LaunchFinished:
				all = append(all, crowdLaunch{
					time.Since(began), processorTime(b.t) - busy, since(before, server.Requests()),
				})
			}
			keep(e)
		}
	})
	if got := doc.Case("c"); got.Status != results.OK || len(got.Launches) != launches {
		b.t.Fatalf("%s after %d launches of %d: %s %+v", got.Status, len(got.Launches), launches, got.Reason,
			got.Launches)
	}
	if err := os.RemoveAll(b.dir); err != nil {
		b.t.Fatal(err)
	}
	return all
}

// processorTime is what this process has used of all processors so far.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// since are the requests after others, but for those that are due to time, and the ends of
// watches, which the end of a launch may overtake.
func since(before, after map[string]int) map[string]int {
	for kind := range after {
		if after[kind] -= before[kind]; after[kind] == 0 || kind == "LeaseKeepAlive" || kind == "WatchCancel" {
			delete(after, kind)
		}
	}
	return after
}

// Fifty agents and 400 ranks meet, measure and are heard, and it costs etcd five times
// what ten agents cost it.
func TestACrowd(t *testing.T) {
	few, many := newBench(t).crowd(80, 1)[0], newBench(t).crowd(400, 1)[0]
	t.Logf("80 ranks: %v, 400 ranks: %v", few, many)
	if few.sum() < 80/eachAgent || many.sum() > 5*few.sum() {
		t.Errorf("80 ranks cost %d requests, 400 ranks %d", few.sum(), many.sum())
	}
}
