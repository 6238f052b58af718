package sim

import (
	"math"
	"slices"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/ep"
	"github.com/weir-bench/weir/workload/move"
)

// exchange is a case of workload ep.
type exchange struct {
	spec      *ep.Spec
	out, in   [][]float64 // bytes to and from others: by operation of an iteration, then by rank
	footprint float64     // bytes of the largest rank's buffers
}

// exchangeOf computes the bytes between the ranks of a case.
func exchangeOf(c engine.Case) (task, error) {
	s, err := ep.Read(c.Spec, c.Large)
	if err != nil {
		return task{}, err
	}
	t, err := s.Table()
	if err != nil {
		return task{}, err
	}
	x := &exchange{spec: s}
	for _, sent := range s.Sent(t) {
		out, in := make([]float64, t.Ranks), make([]float64, t.Ranks)
		for from, row := range sent {
			for to, bytes := range row {
				if from != to {
					out[from] += float64(bytes)
					in[to] += float64(bytes)
				}
			}
		}
		x.out, x.in = append(x.out, out), append(x.in, in)
		x.footprint += slices.Max(out) + slices.Max(in)
	}
	c.Spec, c.Large = nil, nil
	return task{Case: c, Options: s.Moves(), ep: x}, nil
}

// path returns an iteration without variation, in the form of a request.
func (x *exchange) path(model *fabric.Simulation) path {
	took, bytes := 0., 0.
	for o := range x.out {
		most := max(slices.Max(x.out[o]), slices.Max(x.in[o]))
		took += model.Latency.Seconds() + most/float64(model.Bandwidth)
		bytes += most
	}
	return path{interval: took, latency: took, alone: took, bytes: uint64(max(bytes, 1))}
}

// participant is the state of one rank.
type participant struct {
	at         float64 // ns: end of its last operation
	iterations []ep.Iteration
	waits      [2][]ep.Wait
}

// exchange draws the measurements of all ranks in the timed part of a case, by the model in the package comment.
func (l *launch) exchange(c task) (parts []*workload.Part, rate float64, err error) {
	x, model := c.ep, c.Options.Sim
	n := len(x.out[0])
	ranks, random := make([]participant, n), make([]stream, n)
	began := float64(l.now)
	for r := range ranks {
		random[r] = l.stream(forRank, textWord(c.Key), uint64(r))
		ranks[r].at = began
	}
	sd := sigma(float64(model.Jitter))
	for range c.Options.Iterations {
		if x.spec.Timing == "aligned" {
			meet := 0.
			for r := range ranks {
				meet = max(meet, ranks[r].at)
			}
			for r := range ranks {
				ranks[r].at = meet
			}
		}
		l.iterate(x, ranks, func(r int) float64 { return factor(sd, random[r].NormFloat64()) / l.speed })
	}
	for r := range ranks {
		p := &ep.Part{
			Part: l.participated(r, x.spec.Verify != "none", float64(model.Bandwidth)), Iterations: ranks[r].iterations,
		}
		p.Waits = ranks[r].waits
		for o := range p.Waits {
			for source := range p.Waits[o] {
				p.Waits[o][source].Mean /= float64(c.Options.Iterations)
			}
		}
		part, err := p.Encode(c.Key, l.Index)
		if err != nil {
			return nil, 0, err
		}
		parts = append(parts, part)
		l.now = max(l.now, time.Duration(math.Ceil(ranks[r].at)))
	}
	bytes := 0.
	for _, out := range x.out {
		for _, b := range out {
			bytes += b * float64(c.Options.Iterations)
		}
	}
	return parts, bytes * 1e9 / max(float64(l.now)-began, 1), nil
}

// iterate runs the operations of an iteration; slower multiplies a rank's sending time.
func (l *launch) iterate(x *exchange, ranks []participant, slower func(rank int) float64) {
	model := l.model
	way, rate := float64(model.Latency.Seconds())*1e9/l.speed, float64(model.Bandwidth)/1e9
	its := make([]ep.Iteration, len(ranks))
	for r := range ranks {
		its[r].Start = nanoseconds(ranks[r].at)
		its[r].Turn = its[r].Start
	}
	for o := range x.out {
		starts, sent := make([]float64, len(ranks)), make([]float64, len(ranks))
		for r := range ranks {
			starts[r] = ranks[r].at
			sent[r] = starts[r] + x.out[o][r]/rate*slower(r)
		}
		dispatch := o == 0 && x.spec.Dispatches()
		for r := range ranks {
			end := starts[r] + x.in[o][r]/rate/l.speed
			waits := &ranks[r].waits[1]
			if dispatch {
				waits = &ranks[r].waits[0]
			}
			if *waits == nil {
				*waits = make([]ep.Wait, len(ranks))
			}
			for s := range ranks {
				if s != r {
					end = max(end, sent[s])
					took := (sent[s] + way - starts[r]) * 1e-9
					(*waits)[s].Mean += took
					(*waits)[s].Max = max((*waits)[s].Max, took)
				}
			}
			ranks[r].at = end + way
			send := nanoseconds(sent[r] - starts[r])
			wait := max(0, nanoseconds(ranks[r].at-starts[r])-send)
			if dispatch {
				its[r].DispatchSend, its[r].DispatchWait, its[r].Turn = send, wait, nanoseconds(ranks[r].at)
			} else {
				its[r].CombineSend, its[r].CombineWait = send, wait
			}
		}
	}
	for r := range ranks {
		its[r].End = max(nanoseconds(ranks[r].at), its[r].Turn)
		ranks[r].iterations = append(ranks[r].iterations, its[r])
	}
}

// participated are the facts of a rank in an exchange.
func (l *launch) participated(rank int, verified bool, bandwidth float64) *move.Part {
	ceiling := quantity.Round(bandwidth * l.speed)
	return &move.Part{
		Rank: rank, Initiator: true, Verified: verified, Prep: l.prep, Transport: "simulated", Memcpy: ceiling,
		Ceiling: ceiling, CeilingBest: ceiling,
		Transports: []results.Transport{{Name: fabric.SimName, Use: results.DataUse, Ranks: []int{rank}}},
		Clock:      move.Clock{Resolution: 1e-9},
	}
}
