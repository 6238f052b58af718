package native

/*
#include "ep.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/engine/elastic"
	"github.com/weir-bench/weir/engine/mesh"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/epelastic"
	"github.com/weir-bench/weir/workload/move"
)

func init() { engine.Register(epelastic.Runner, epElasticRunner{}) }

// SurviveEnv names a rank that does not die when its phase says so, to test that this is detected.
const SurviveEnv = "WEIR_SELFTEST_SURVIVE"

// epElasticRunner runs the ranks of workload ep_elastic.
type epElasticRunner struct{}

// Lives returns the processes of each rank over the phases.
func (epElasticRunner) Lives(l engine.Launch) ([][]engine.Life, error) {
	if len(l.Cases) == 0 {
		return nil, errors.New("the launch has no cases")
	}
	s, err := epelastic.Read(l.Cases[0].Spec)
	if err != nil {
		return nil, err
	}
	if len(s.Phases) != len(l.Cases) {
		return nil, fmt.Errorf("the launch has %d cases, but there are %d phases", len(l.Cases), len(s.Phases))
	}
	return s.Phases.Lives(), nil
}

// epElasticRank is a process of a rank. The process of rank 0 also leads the group.
type epElasticRank struct {
	launch  engine.Launch
	self    engine.Identity
	control *engine.Control
	specs   []*epelastic.Spec // by case
	memory  *elasticMemory
	leader  *elastic.Leader // of rank 0
	hub     *mesh.Hub
	member  *elastic.Member
	spoke   *mesh.Spoke
}

func (epElasticRunner) Open(l engine.Launch, self engine.Identity, control *engine.Control) (engine.Rank, error) {
	r := &epElasticRank{launch: l, self: self, control: control}
	for _, c := range l.Cases {
		s, err := epelastic.Read(c.Spec)
		if err != nil {
			return nil, err
		}
		r.specs = append(r.specs, s)
	}
	if len(r.specs) == 0 {
		return nil, errors.New("the launch has no cases")
	}
	var err error
	if r.memory, err = newElasticMemory(l, self, control, r.specs[0]); err != nil {
		return nil, err
	}
	if text := os.Getenv(SurviveEnv); text != "" {
		rank, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%s is %q, not a rank", SurviveEnv, text)
		}
		r.memory.survives = rank == self.Rank
	}
	if self.Rank == 0 {
		if r.leader, r.hub, err = elastic.NewLeader(r.specs[0], l.Nodes); err != nil {
			return nil, err
		}
		watch := gpuWatch{} // fabric cuda, the only one with GPU memory here, runs on one host
		r.leader.Look = func(gpu string, led *epelastic.Led) {
			led.GPUCounters = append(led.GPUCounters, watch.check(gpu)...)
		}
	}
	return r, nil
}

// Address returns how to reach the leader; other ranks need none before they join the group.
func (r *epElasticRank) Address() ([]byte, error) {
	if r.hub == nil {
		return nil, nil
	}
	return r.hub.Address()
}

func (r *epElasticRank) Connect(addresses [][]byte) (err error) {
	if r.spoke, err = mesh.Join(addresses[0], r.launch.Nodes, r.self.Rank, connectTimeout); err != nil {
		return &engine.Error{
			Phase: "connect", Peer: 0, Text: fmt.Sprintf("connecting to rank 0, which leads the group: %v", err),
		}
	}
	r.member = elastic.NewMember(r.self.Rank, r.specs[0].Tokens, r.memory, r.spoke)
	return nil
}

// Run takes part in a phase.
func (r *epElasticRank) Run(c engine.Case) (*workload.Part, error) {
	i := slices.IndexFunc(r.launch.Cases, func(o engine.Case) bool { return o.Key == c.Key })
	if i < 0 {
		return nil, fmt.Errorf("case %s is not of this launch", c.Key)
	}
	r.control.Phase.Store(engine.PhaseRun)
	limit := time.Duration(0) // others end when the leader does
	if r.leader != nil {
		limit = time.Duration(c.Timeout)
	}
	ctx, stop := r.control.Watch(r.launch.Fabric, limit)
	defer stop()
	r.memory.timeout = time.Duration(c.Timeout)
	p := &epelastic.Part{Part: &move.Part{Rank: r.self.Rank, Initiator: true, Verified: true}}
	if err := r.play(ctx, stop, i, p); err != nil {
		return nil, err
	}
	p.Verified = p.Wrong == 0
	p.Transport, p.Transports, p.Provider = r.memory.transport, r.memory.transports, r.memory.provider
	p.Libraries = r.memory.libraries
	return p.Encode(c.Key, r.launch.Index)
}

// play runs the leader, if it is here, beside its member.
func (r *epElasticRank) play(ctx context.Context, stop func(), phase int, p *epelastic.Part) error {
	if r.leader == nil {
		return r.member.Run(ctx, p)
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	led := make(chan error, 1)
	go func() {
		var err error
		if p.Led, err = r.leader.Lead(inner, phase); err != nil {
			cancel(err) // its member ends with it
			r.memory.BreakOff()
		}
		led <- err
	}()
	err := r.member.Run(inner, p)
	if err != nil {
		cancel(err)
	}
	if why := <-led; why != nil && (err == nil || errors.Is(context.Cause(inner), why)) {
		return why
	}
	return err
}

// Close ends the process in order. No peer uses its memory any more.
func (r *epElasticRank) Close() error {
	if r.hub != nil {
		_ = r.hub.Close() // no more ranks join
	}
	return r.memory.close()
}
