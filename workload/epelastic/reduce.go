package epelastic

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

const ns = 1e-9

// measured is a phase with all parts of its ranks, on the leader's clock.
type measured struct {
	s     *Spec
	phase Phase
	led   *Led
	parts map[int]*Part           // of the ranks that completed it, or left in it
	ended map[int]*workload.Ended // of the killed ranks
	// values are the values of quantiles.
	values results.Distributions
}

func (behaviour) Reduce(m *workload.Measured, l *results.Launch) (map[string]float64, error) {
	s := m.Spec.(*Spec)
	d := &measured{s: s, phase: s.Phases[s.Phase], parts: map[int]*Part{}, ended: map[int]*workload.Ended{},
		values: results.Distributions{}}
	moved := make([]*move.Part, len(m.Parts))
	for rank, p := range m.Parts {
		moved[rank] = &move.Part{Verified: true} // of an absent rank
		switch {
		case p.Absent:
		case p.Ended != nil:
			d.ended[rank] = p.Ended
		default:
			part, err := decode(p)
			if err != nil {
				return nil, err
			}
			d.parts[rank], moved[rank] = part, part.Part
		}
	}
	if d.parts[0] == nil || d.parts[0].Led == nil {
		return nil, errors.New("rank 0 has no record of the group that it leads")
	}
	d.led = d.parts[0].Led
	if err := d.check(); err != nil {
		return nil, err
	}
	for rank, gpu := range d.led.GPUs {
		moved[rank].GPU = gpu
	}
	moved[0].GPUCounters = d.led.GPUCounters
	move.DescribeParts(m, l, moved)
	d.toLeader()
	metrics, err := d.metrics()
	if err != nil {
		return nil, err
	}
	l.Timeline, l.Distributions = d.timeline(), d.values
	return metrics, nil
}

// check compares the parts with the plan.
func (d *measured) check() error {
	i := int(d.s.Phase)
	for _, r := range d.phase.Kill {
		if d.ended[r] == nil {
			return fmt.Errorf("rank %d should have been killed in phase %d, but was not", r, i)
		}
	}
	if len(d.ended) != len(d.phase.Kill) {
		return fmt.Errorf("%d ranks were killed in phase %d, expected %d", len(d.ended), i, len(d.phase.Kill))
	}
	for _, r := range slices.Concat(d.phase.Ranks, d.s.Phases.Left(i), d.phase.Mute) {
		if d.parts[r] == nil {
			return fmt.Errorf("rank %d has no results for phase %d", r, i)
		}
	}
	if len(d.led.Ahead) != d.s.Phases.Ranks() || len(d.led.Changes) == 0 {
		return errors.New("rank 0 has no record of the changes of the group")
	}
	if n := len(d.led.GPUs); n != 0 && n != d.s.Phases.Ranks() {
		return fmt.Errorf("rank 0 has GPUs of %d ranks, expected %d", n, d.s.Phases.Ranks())
	}
	return nil
}

// toLeader converts all times to the leader's clock.
func (d *measured) toLeader() {
	for rank, p := range d.parts {
		ahead := d.led.Ahead[rank]
		for i := range p.Steps {
			step := &p.Steps[i]
			step.Start, step.Turn, step.End = step.Start-ahead, step.Turn-ahead, step.End-ahead
		}
		for i := range p.Masks {
			p.Masks[i].At -= ahead
		}
		if p.Muted != 0 {
			p.Muted -= ahead
		}
	}
	for rank, e := range d.ended {
		e.At -= d.led.Ahead[rank]
	}
}

// died returns when the first rank was lost; 0: none was.
func (d *measured) died() (at int64) {
	note := func(t int64) {
		if at == 0 || t < at {
			at = t
		}
	}
	for _, e := range d.ended {
		note(e.At)
	}
	for _, r := range d.phase.Mute {
		note(d.parts[r].Muted)
	}
	return at
}

// between returns a span without the times in which ranks prepared their steps.
func (d *measured) between(from, to int64) int64 {
	span := to - from
	for _, p := range d.led.Prepared {
		span -= max(0, min(to, p[1])-max(from, p[0]))
	}
	return max(0, span)
}

// first returns when all ranks of a group had completed their first step in it.
func (d *measured) first(group int) (at int64, err error) {
	for _, r := range d.led.Changes[group].Ranks {
		i := slices.IndexFunc(d.parts[r].Steps, func(s Step) bool { return s.Group == int64(group) })
		if i < 0 {
			return 0, fmt.Errorf("rank %d has no step in group %d of phase %d", r, group, d.s.Phase)
		}
		at = max(at, d.parts[r].Steps[i].End)
	}
	return at, nil
}

func (d *measured) metrics() (map[string]float64, error) {
	phases, i := d.s.Phases, int(d.s.Phase)
	m := map[string]float64{
		"group.ranks": float64(len(d.phase.Ranks)), "joined": float64(len(phases.Joined(i))),
		"left": float64(len(phases.Left(i))), "killed": float64(len(d.phase.Kill)),
		"muted": float64(len(d.phase.Mute)), "clock.bound": float64(d.led.Bound) * ns,
	}
	last := len(d.led.Changes) - 1
	settled, err := d.first(last)
	if err != nil {
		return nil, err
	}
	if err := d.changes(m, last, settled); err != nil {
		return nil, err
	}
	d.losses(m)
	lists := make([][]Step, 0, len(d.parts))
	for _, r := range d.phase.Ranks {
		lists = append(lists, d.parts[r].Steps)
	}
	d.s.rates(m, lists, d.values)
	stall := int64(0)
	for _, list := range lists {
		for k, s := range list {
			from := s.Start
			if k > 0 {
				from = list[k-1].End
			}
			stall = max(stall, d.between(from, s.End))
		}
	}
	m["stall.max"] = float64(stall) * ns
	return m, nil
}

// changes adds the times of the change of the group.
func (d *measured) changes(m map[string]float64, last int, settled int64) error {
	i := int(d.s.Phase)
	target := d.led.Changes[last]
	if m["joined"] > 0 {
		m["scale_up.time"] = float64(d.between(target.Order, settled)) * ns
		m["scale_up.open"] = float64(d.between(target.Order, target.Opened)) * ns
		m["scale_up.connect"] = float64(d.between(target.Opened, target.Connected)) * ns
	}
	began := target.Order
	if died := d.died(); died != 0 {
		after, err := d.first(min(1, last)) // the survivors' group
		if err != nil {
			return err
		}
		m["recover.time"], began = float64(d.between(died, after))*ns, died
	}
	if m["left"] > 0 {
		shrunk, err := d.first(min(1, last))
		if err != nil {
			return err
		}
		m["scale_down.time"] = float64(d.between(d.led.Changes[min(1, last)].Order, shrunk)) * ns
	}
	if i == 0 || last == 0 {
		return nil
	}
	during := 0
	for _, s := range d.parts[0].Steps { // rank 0 is in all groups
		if s.End > began && s.End <= settled {
			during++
		}
	}
	if window := d.between(began, settled); window > 0 {
		m["rate.during"] = float64(during) * float64(d.s.Tokens) / (float64(window) * ns)
	}
	return nil
}

// losses adds the metrics of tokens and of the detection of lost ranks.
func (d *measured) losses(m map[string]float64) {
	died, noticed := d.died(), int64(0)
	wrong, lost, masks := int64(0), int64(0), 0
	survivors := d.s.Phases.Survivors(int(d.s.Phase))
	for _, p := range d.parts {
		wrong += p.Wrong
		lost += p.Lost
	}
	for _, r := range survivors {
		var masked []int
		for _, k := range d.parts[r].Masks {
			masked = append(masked, k.Rank)
			noticed = max(noticed, k.At)
		}
		masks += len(without(masked, d.phase.Lost())) + len(without(d.phase.Lost(), masked))
	}
	m["wrong_tokens"], m["lost_tokens"], m["mask.wrong"] = float64(wrong), float64(lost), float64(masks)
	if died != 0 && d.s.kernelsSend() {
		stopped := int64(0)
		for _, r := range survivors {
			stopped = max(stopped, d.parts[r].Stopped)
		}
		m["kernels.stop"] = float64(stopped) * ns
	}
	if died != 0 && noticed != 0 {
		m["detect.time"] = float64(max(0, noticed-died)) * ns
	}
}

// rates adds the rates and latencies of steps in the settled group. The step times are added to d, which may be nil.
func (s *Spec) rates(m map[string]float64, lists [][]Step, d results.Distributions) {
	last := int64(0)
	for _, list := range lists {
		for _, step := range list {
			last = max(last, step.Group)
		}
	}
	var before, after, took, stepsBefore, stepsAfter float64
	var times []float64
	for _, list := range lists {
		for _, step := range list {
			took = float64(step.End-step.Start) * ns
			if step.Group == last {
				after, stepsAfter = after+took, stepsAfter+1
				times = append(times, float64(step.End-step.Start))
			} else if step.Group == 0 {
				before, stepsBefore = before+took, stepsBefore+1
			}
		}
	}
	if before > 0 {
		m["rate.before"] = float64(s.Tokens) * stepsBefore / before
	}
	if after > 0 {
		m["rate.after"] = float64(s.Tokens) * stepsAfter / after
		slices.Sort(times)
		d.Add("latency", times, 0)
		m["latency.steps"] = float64(len(times))
		m["latency.p50"] = times[results.NearestRank(int64(len(times)), results.P50)-1] * ns
		m["latency.p99"] = times[results.NearestRank(int64(len(times)), results.P99)-1] * ns
	}
}

// Recompute computes the metrics that follow from options and samples alone.
func (behaviour) Recompute(options map[string]any, files [][]byte) (map[string]float64, error) {
	s, err := workload.Decoded(Kind, options, Decode)
	if err != nil || s == nil {
		return nil, err
	}
	var lists [][]Step
	last := int64(0)
	for _, content := range files {
		list, err := steps(content)
		if err != nil {
			return nil, err
		}
		for _, step := range list {
			last = max(last, step.Group)
		}
		lists = append(lists, list)
	}
	// ranks that left have no step in the last group
	lists = slices.DeleteFunc(lists, func(list []Step) bool {
		return !slices.ContainsFunc(list, func(s Step) bool { return s.Group == last })
	})
	m := map[string]float64{}
	s.rates(m, lists, nil)
	return m, nil
}
