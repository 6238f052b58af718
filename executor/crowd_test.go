package executor

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/engine/sim"
	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/fleet"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

// playedEngine is an engine with ranks that report simulated measurements. They take every step of a rank; their
// launch is simulated once for all ranks.
type playedEngine struct {
	mu       sync.Mutex
	launches map[string]*playedLaunch
}

// playedLaunch is a simulated launch that some ranks still need.
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

// asPlayed converts a launch for package sim.
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

// address identifies the rank.
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

// eachAgent is the number of ranks of a crowd's agent.
const eachAgent = 8

// crowdLaunch is the cost of a launch of a crowd.
type crowdLaunch struct {
	took time.Duration
	busy time.Duration // of all processors, for the coordinator
}

// crowded is a launcher with agents that are goroutines of one other process. Each calls the session as an agent
// of another host does: over TCP and TLS, with a certificate.
type crowded struct{ nodes []string }

func (c *crowded) Check(context.Context, launcher.Request) error { return nil }
func (c *crowded) Start(_ context.Context, r launcher.Request) (launcher.Handle, error) {
	h := &crowdedAgents{hosts: exec.Command(os.Args[0], crowdWord)}
	h.hosts.Stderr = os.Stderr
	documents, err := h.hosts.StdinPipe()
	if err == nil {
		err = h.hosts.Start()
	}
	for _, node := range c.nodes {
		var b launcher.Bootstrap
		var text []byte
		if err == nil {
			b, err = r.Bootstrap(node)
		}
		if err == nil {
			text, err = b.Encode()
		}
		if err == nil {
			_, err = documents.Write(text)
		}
		h.workers = append(h.workers, launcher.Worker{Node: node, State: launcher.Running})
	}
	return h, errors.Join(err, documents.Close())
}

// crowdedAgents are the agents of one session.
type crowdedAgents struct {
	workers []launcher.Worker
	hosts   *exec.Cmd
}

func (h *crowdedAgents) Poll(context.Context) ([]launcher.Worker, error) { return h.workers, nil }

// Stop waits for the agents, which end with their session.
func (h *crowdedAgents) Stop(context.Context, time.Duration) error { return h.hosts.Wait() }

// mostCrowded is the largest number of ranks of a crowd.
const mostCrowded = 8000

// crowdWord makes this program run the agents of a crowd.
const crowdWord = "crowd"

// starting is the delay between the starts of a crowd's agents: each reads the directories of all others of this
// host.
const starting = 20 * time.Microsecond

// beCrowd runs the agents of the bootstrap documents on standard input until their session ends.
func beCrowd() int {
	option.MostProcesses = mostCrowded
	var running errgroup.Group
	played, i := newPlayedEngine(), 0
	for in := bufio.NewReaderSize(os.Stdin, launcher.MaxBootstrap); ; i++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		b, err := launcher.DecodeBootstrap(line)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		time.Sleep(time.Duration(i) * starting)
		running.Go(func() error {
			return fleet.RunBootstrapped(context.Background(), fleet.AgentOptions{
				Options: agent.Options{Node: b.Node, Engine: played, Host: fstest.MapFS{}}, Say: func(string) {},
			}, b, nil)
		})
	}
	if err := running.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// agentsFor is the number of agents for this number of ranks.
func agentsFor(ranks int) int { return max(2, (ranks+eachAgent-1)/eachAgent) }

// crowd runs launches of a case on agents that each have a stream of their own.
func (b *bench) crowd(ranks, launches int) []crowdLaunch {
	b.t.Helper()
	agents := agentsFor(ranks)
	c := aCase("c", withOption("fabric", "tcp"), withOption("ranks", int64(ranks)),
		func(c *planner.Case) { c.Place.Nodes = agents })
	var all []crowdLaunch
	var began time.Time
	var busy time.Duration
	doc := b.run(aPlan([]*planner.Case{c}, aGroup("g", []*planner.Case{c}, launches)), func(o *Options) {
		launcher := &crowded{}
		for i := range agents {
			launcher.nodes = append(launcher.nodes, fmt.Sprintf("n%04d", i))
		}
		o.Fleet = &fleet.Options{Launcher: launcher, Listen: "127.0.0.1:0", Wait: 2 * time.Minute, Say: func(string) {}}
		keep := o.Events
		o.Events = func(e event.Event) {
			switch e.Type {
			case event.LaunchStarted:
				began, busy = time.Now(), processorTime(b.t)
			case event.LaunchFinished:
				all = append(all, crowdLaunch{time.Since(began), processorTime(b.t) - busy})
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

// processorTime is the processor time that this process has used.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Fifty agents and 400 ranks connect over their streams, measure and report.
func TestACrowd(t *testing.T) {
	few, many := newBench(t).crowd(80, 1)[0], newBench(t).crowd(400, 1)[0]
	t.Logf("80 ranks: %v, 400 ranks: %v", few, many)
}
