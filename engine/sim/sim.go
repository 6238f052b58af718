// Package sim simulates the ranks of launches with fabric sim. It moves no bytes, never sleeps and needs no processes:
// from a declared model it computes samples in the form of real ranks, and metrics follow from them as from real ones.
// Use it to learn the language, to try out a plan, and to measure the error rates of the gate.
//
// # The path
//
// With L = sim_latency, B = sim_bandwidth, b = block_size, n = batch,
// t = threads, w = t·min(in_flight, iterations) and S = n·b, the bytes of a request:
//
//	write      l = L               the last byte is at the target after L + S/B
//	read       l = 2·L             the request travels first
//	stream     interval = l/w + S/B      between the completions of two requests
//	           latency  = w · interval   of a request, by Little's law
//	pingpong   interval = 2 · (L/t + b/B)    between the ends of two round trips
//	           latency  = L + t · b/B        of a message: t of them are under way
//
// So the bandwidth of a stream is S / (l/w + S/B): that of one request at a time
// for w = 1, and nearly B once w requests cover the latency. Every initiator has
// such a path of its own, which all its targets are on; a target that serves n
// initiators gives each an n-th of B. So B is sim_bandwidth times
//
//	share = min(1, Σ 1/n) over the targets of the initiator
//
// which is 1/(ranks - 1) under many_to_one and 1 under every other pattern; the two
// directions of bidirectional do not share. With a duration T the timed part has
// the iterations that begin before it is over, ⌈T / interval⌉ at the launch's speed,
// but of each thread one to each target, and w is t·in_flight. The threads of a rank
// share its path.
//
// # Expert parallel
//
// In an operation of workload ep rank r sends out(r) bytes to others and gets in(r) from them. From
// the instant start(r) at which each begins, it ends at
//
//	end(r) = L + max( start(r) + in(r)/B, max over s of start(s) + out(s)/B )
//
// because every other rank tells r that all is there once it has sent all. A combine starts where
// the rank's dispatch ended; with timing aligned all ranks begin an iteration at once, else each where
// its last one ended. Making FP8, sums and copies within a rank take no time.
//
// # Variation
//
// All times of a launch are divided by its speed
//
//	speed = exp(σ·z) · (1 - loss) · exp(sim_drift · W)
//	σ²    = ln(1 + sim_noise²)
//
// with z from the standard normal distribution, so that the median speed is 1;
// loss is 0, or for a share sim_stragglers of all launches uniform between 0 and
// sim_straggler_loss; W is a random walk with standard normal steps, one for each
// simulated launch of the session, of whichever group, and 0 in the first. Groups
// with one sim_seed share one walk: what comes at the same time drifts alike.
//
// The time of an iteration is multiplied by a lognormal factor of mean 1 and
// coefficient of variation sim_jitter, the same for its part of the stream and for
// its latency. Up to 256 iterations each has its own; beyond, the course is the sum
// of 16 normal pieces (the central limit theorem), and the histogram has the first
// and last 64 stamped requests as drawn and the others by strata of the distribution.
//
// # The rest
//
// The ceiling of the path is B times the launch's speed; that of memory copies,
// which are not modelled, sim_bandwidth times it. Nor are processors: posting and
// making a request, CPU time and context switches are 0, and so is what the clock
// costs, which counts nanoseconds. What buffers are made of (reuse, pages, alloc, numa,
// payload) makes no difference. A launch takes 10 ms to start; buffers are filled at
// 8 GB/s, registered in 20 µs and at 100 GB/s, and connected in three round trips.
//
// Everything follows from sim_seed, the launch's seed and attempt, the rank and
// the case: the same plan gives the same numbers.
package sim

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/ep"
	"github.com/weir-bench/weir/workload/move"
)

func init() {
	all := engine.Simulation{
		New:     func() engine.Simulator { return New() },
		Fabrics: map[string]results.Fabric{fabric.SimName: {Available: true, Version: "model 1"}},
	}
	engine.RegisterSimulation(move.SimRunner, all)
	engine.RegisterSimulation(ep.SimRunner, all)
}

// Session simulates the launches of one session on one virtual clock.
type Session struct {
	mu       sync.Mutex
	clock    time.Duration
	launches int
	walks    map[int64]*walk // by sim_seed
	attempts map[uint64]int  // by launch seed
}

// New returns a session with its clock at 0.
func New() *Session { return &Session{walks: map[int64]*walk{}, attempts: map[uint64]int{}} }

// Play simulates a launch. An error means that the launch cannot be simulated; a failure that the scenario declares is
// in the result.
func (s *Session) Play(l engine.Launch) (*engine.Played, error) {
	cases, err := decode(l)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &launch{Launch: l, cases: cases, model: cases[0].Options.Sim, now: s.clock, attempt: s.attempts[l.Seed]}
	s.attempts[l.Seed]++
	p.speed = p.drawSpeed(s.drifted(p.model.Seed))
	s.launches++
	played := p.play()
	s.clock = played.Ended
	return played, nil
}

// drifted returns the position of a seed's walk at this launch.
func (s *Session) drifted(seed int64) float64 {
	if s.walks[seed] == nil {
		s.walks[seed] = newWalk(seed)
	}
	return s.walks[seed].after(s.launches)
}

// task is a case with its movement.
type task struct {
	engine.Case
	Options move.Spec
	ep      *exchange // of workload ep; nil: of others
}

func decode(l engine.Launch) ([]task, error) {
	if len(l.Cases) == 0 || l.Ranks < 1 || len(l.Nodes) != l.Ranks {
		return nil, errors.New("simulating a launch: it has no cases, no ranks or no nodes for them")
	}
	var cases []task
	for _, c := range l.Cases {
		if l.Runner == ep.SimRunner {
			t, err := exchangeOf(c)
			if err != nil {
				return nil, fmt.Errorf("simulating a launch: case %s: %w", c.Key, err)
			}
			cases = append(cases, t)
			continue
		}
		o, err := move.Read(c.Spec, c.Large)
		switch {
		case err != nil:
			return nil, fmt.Errorf("simulating a launch: case %s: %w", c.Key, err)
		case o.Sim == nil || o.Fabric != fabric.SimName:
			return nil, fmt.Errorf("simulating a launch: case %s is not of fabric %s", c.Key, fabric.SimName)
		case !o.Initiates(first(o)):
			return nil, fmt.Errorf("simulating a launch: case %s: no model of pattern %q", c.Key, o.Pattern)
		}
		cases = append(cases, task{Case: c, Options: o})
	}
	return cases, nil
}
