package native

/*
#include <stdlib.h>
#include "weir.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"weir/engine"
	"weir/engine/mesh"
	"weir/fabric"
	"weir/workload"
	"weir/workload/epcontrol"
	"weir/workload/move"
)

func init() { engine.Register(epcontrol.Runner, epControlRunner{}) }

// epControlRunner runs the ranks of workload ep_control. It calls C for each operation: what is
// measured takes milliseconds.
type epControlRunner struct{}

// epControlRank makes a rank of the engine anew in each round. Ranks tell each other their
// addresses, and meet, over connections that are none of what is measured.
type epControlRank struct {
	member
	launch  engine.Launch
	inbox   *mesh.Inbox
	mesh    *mesh.Mesh
	corrupt int64
}

func (epControlRunner) Open(l engine.Launch, self engine.Identity, control *engine.Control) (engine.Rank, error) {
	if len(l.Cases) == 0 {
		return nil, errors.New("a launch without cases")
	}
	r := &epControlRank{
		member: memberOf(l, self, control), launch: l, inbox: mesh.InboxOf(self.Rank, l.Ranks), corrupt: -1,
	}
	if text := os.Getenv(CorruptEnv); text != "" {
		rank, at, _, err := parseCorrupt(text, l.Ranks)
		if most := uint64(l.Ranks-1) * C.WEIR_TOUCH; err == nil && at >= int64(most) {
			err = fmt.Errorf("%s is %q, but rank %d receives %d bytes", CorruptEnv, text, rank, most)
		}
		if err != nil {
			return nil, err
		}
		if rank == self.Rank {
			r.corrupt = at
		}
	}
	return r, nil
}

// Address is where this rank hears of the others.
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

// controlCase are the operations of one case.
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
	if err := k.look(); err != nil {
		return nil, err
	}
	return epcontrol.Encode(c.Key, r.launch.Index, r.self.Rank, &k.facts, measured)
}

// find notes which GPU the rank has, if any, as soon as it has one.
func (k *controlCase) find() error {
	l := C.weir_life_of(k.threads[0])
	k.facts.GPU = C.GoString(&l.gpu[0])
	return k.look()
}

// look looks at the rank's GPU while no rank is timed.
func (k *controlCase) look() error {
	if k.facts.GPU == "" {
		return nil
	}
	err := k.meet()
	k.facts.GPUCounters = k.gpus.look(k.facts.GPU)
	return err
}

// round makes a rank, does the operations of a round, and gives the spans of their steps.
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
			if err := k.meet(); err != nil {
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
				if err := k.find(); err != nil {
					return nil, err
				}
			}
		}
		all = append(all, steps...)
	}
	return all, nil
}
