package native

/*
#include "weir.h"
*/
import "C"

import (
	"context"
	"errors"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/engine/mesh"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/epcontrol"
	"github.com/weir-bench/weir/workload/move"
)

func init() { engine.Register(epcontrol.Runner, epControlRunner{}) }

// epControlRunner runs the ranks of workload ep_control. It calls C for each operation: the measured times
// are milliseconds.
type epControlRunner struct{}

// epControlRank recreates a rank of the engine in each round. Ranks exchange addresses and synchronise over
// connections that are not measured.
type epControlRank struct {
	member
	launch  engine.Launch
	inbox   *mesh.Inbox
	mesh    *mesh.Mesh
	corrupt int64
}

func (epControlRunner) Open(l engine.Launch, self engine.Identity, control *engine.Control) (engine.Rank, error) {
	if len(l.Cases) == 0 {
		return nil, errors.New("the launch has no cases")
	}
	r := &epControlRank{
		member: memberOf(l, self, control), launch: l, inbox: mesh.InboxOf(self.Rank, l.Ranks),
	}
	var err error
	r.corrupt, _, err = corruptOf(l.Ranks, self.Rank, func(int) int64 { return int64(l.Ranks-1) * C.WEIR_TOUCH })
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Address returns where other ranks reach this one.
func (r *epControlRank) Address() (address []byte, err error) {
	if r.mesh, err = mesh.Listen(r.launch.Nodes, r.self.Rank); err != nil {
		return nil, err
	}
	return r.mesh.Address(nil)
}

func (r *epControlRank) Connect(addresses [][]byte) error {
	_, err := r.mesh.Connect(addresses, connectTimeout, r.inbox.Put)
	return err
}

func (r *epControlRank) Close() error { return r.mesh.Close() }

// controlCase holds the state of one case.
type controlCase struct {
	*epControlRank
	ctx     context.Context
	spec    *epcontrol.Spec
	options fabric.Options
	source  int64
	sink    int64
	timeout C.int64_t
	touches uint64
	facts   move.Part
	gpus    gpuWatch
}

func (r *epControlRank) Run(c engine.Case) (*workload.Part, error) {
	s, err := epcontrol.Read(c.Spec)
	if err != nil {
		return nil, err
	}
	r.control.Phase.Store(engine.PhaseRun)
	ctx, stop := r.control.Watch(r.fabric, time.Duration(c.Timeout))
	defer stop()
	k := controlCase{
		epControlRank: r, ctx: ctx, spec: s, options: s.FabricOptions.With(r.launch.Options),
		timeout: C.int64_t(c.Timeout), facts: move.Part{Initiator: true, Verified: true},
		gpus: gpuWatch{},
	}
	k.source, k.sink = s.Buffers()
	r.control.Done.Store(0)
	r.control.Total.Store(uint64(s.Warmup + s.Rounds))
	var measured []epcontrol.Round
	for i := range s.Warmup + s.Rounds {
		round, err := k.round()
		if err != nil {
			return nil, err
		}
		if i >= s.Warmup {
			measured = append(measured, round)
		}
		r.control.Done.Add(1)
	}
	if err := k.checkGPU(); err != nil {
		return nil, err
	}
	return epcontrol.Encode(c.Key, r.launch.Index, r.self.Rank, &k.facts, measured)
}

// findGPU looks up the rank's GPU, if any, as soon as it has one.
func (k *controlCase) findGPU() error {
	l := C.weir_lifecycle_of(k.threads[0])
	k.facts.GPU = C.GoString(&l.gpu[0])
	return k.checkGPU()
}

// checkGPU checks the rank's GPU while no rank is timed.
func (k *controlCase) checkGPU() error {
	if k.facts.GPU == "" {
		return nil
	}
	err := k.barrier()
	k.facts.GPUCounters = k.gpus.check(k.facts.GPU)
	return err
}

// round creates a rank, runs the operations of a round, and returns the durations of their steps.
func (k *controlCase) round() (epcontrol.Round, error) {
	var all epcontrol.Round
	done := map[string]bool{}
	for _, turn := range k.spec.Turns() {
		done[turn.Name] = turn.Timed
	}
	for _, name := range epcontrol.Operations() {
		timed, does := done[name]
		steps := make([]int64, len(epcontrol.StepsOf(name)))
		if does {
			if err := k.barrier(); err != nil {
				return nil, err
			}
			spans, err := k.operate(name)
			if err != nil {
				return nil, err
			}
			if timed {
				copy(steps, spans)
			}
			if name == "init" && k.facts.GPU == "" {
				if err := k.findGPU(); err != nil {
					return nil, err
				}
			}
		}
		all = append(all, steps...)
	}
	return all, nil
}
