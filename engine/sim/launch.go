package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

// Costs of a launch before its first case; see the package comment.
const (
	startUp      = 10 * time.Millisecond
	fillRate     = 8e9   // bytes/s
	registerTime = 20e-6 // s
	registerRate = 100e9 // bytes/s
	roundTrips   = 3     // to connect
)

// longest is the longest virtual time of a case, some 13 days, and most its largest number of bytes: far beyond both,
// the integers of samples would overflow.
const (
	longest = float64(1 << 50) // ns
	most    = float64(1 << 62)
)

// launch is a launch in progress.
type launch struct {
	engine.Launch
	cases   []task
	model   *fabric.Simulation // of its first case; all cases share the settings of the launch
	attempt int
	speed   float64
	now     time.Duration
	prep    move.Prep
	played  engine.Played
}

// stream returns the launch's random stream for a purpose.
func (l *launch) stream(words ...uint64) stream {
	return streamFor(append([]uint64{uint64(l.model.Seed), l.Seed, uint64(l.attempt)}, words...)...)
}

// drawSpeed draws the speed of the launch, given the drift. All values are drawn whatever the options are, so that
// changing one option does not affect the others.
func (l *launch) drawSpeed(drift float64) float64 {
	r := l.stream(forLaunch)
	noise, straggles, loss := r.NormFloat64(), r.Float64(), r.Float64()
	speed := math.Exp(sigma(float64(l.model.Noise))*noise + float64(l.model.Drift)*drift)
	if straggles < float64(l.model.Stragglers) {
		speed *= 1 - loss*float64(l.model.StragglerLoss)
	}
	return quantity.Round(speed) // the last bits of exp differ between machines
}

// play simulates the launch.
func (l *launch) play() *engine.Played {
	l.played.Began = l.now
	bad := l.drawFailure()
	l.prepare()
	l.played.Connected = l.now
	for i, c := range l.cases {
		if bad.before(i) {
			l.reach(bad.failure.Phase, c)
			break
		}
		if !l.run(c) {
			break
		}
	}
	if l.played.Failure == nil {
		l.played.Failure = bad.failure
	}
	l.played.Ended = l.now
	return &l.played
}

// prepare starts the ranks, makes their buffers and connects them.
func (l *launch) prepare() {
	var footprint float64
	for _, c := range l.cases {
		if c.ep != nil {
			footprint = max(footprint, c.ep.footprint)
			continue
		}
		footprint = max(footprint,
			float64(c.Options.Regions()*c.Options.Threads)*float64(c.Options.BlockSize)*float64(c.Options.Batch))
	}
	l.prep = move.Prep{
		Alloc:    quantity.Round(footprint / fillRate),
		Register: quantity.Round(registerTime + footprint/registerRate),
		Connect:  quantity.Round(roundTrips * 2 * l.model.Latency.Seconds() / l.speed),
	}
	l.now += startUp
	l.wait(l.prep.Alloc + l.prep.Register + l.prep.Connect)
}

// first is the initiator with the lowest number. All have the same kind of path.
func first(o move.Spec) int {
	for r := range int(o.Ranks) {
		if o.Initiates(r) {
			return r
		}
	}
	return 0
}

// wait advances virtual time, in seconds.
func (l *launch) wait(seconds float64) {
	l.now += time.Duration(math.Min(math.Round(seconds*1e9), longest))
}

// reach advances virtual time until a case fails: after its preparation, or halfway through its timed part.
func (l *launch) reach(phase string, c task) {
	p := c.path()
	switch phase {
	case "verify":
		l.wait(p.untimed(c.Options) / l.speed)
	case "run":
		l.wait((p.untimed(c.Options) + p.interval*p.iterations(c.Options, l.speed)/2) / l.speed)
	}
}

// run simulates a case; false: it ended the launch.
func (l *launch) run(c task) bool {
	from := l.now
	p := c.path()
	n := p.iterations(c.Options, l.speed)
	untimed, timed := p.untimed(c.Options)/l.speed, p.interval*n/l.speed
	if float64(p.bytes)*n > most || math.Max(untimed, timed)*1e9 > longest {
		return l.fail(results.Fault, -1, fmt.Sprintf("simulated: case %s has more bytes or time than can be counted",
			c.Key))
	}
	limit := time.Duration(c.Timeout)
	l.wait(untimed)
	var ranks []*workload.Part
	var rate float64
	var err error
	if c.ep != nil {
		ranks, rate, err = l.exchange(c)
	} else {
		measured := l.measure(c, p)
		rate = rateOfAll(measured)
		ranks, err = encode(c.Key, measured)
	}
	if err != nil {
		return l.fail(results.Fault, -1, err.Error())
	}
	if limit > 0 && l.now-from > limit {
		l.now = from + limit
		return l.fail(results.TimedOut, -1, fmt.Sprintf("simulated: %d ranks did not finish within %v in case %s",
			l.Ranks, limit, c.Key))
	}
	l.played.Cases = append(l.played.Cases, engine.PlayedCase{From: from, To: l.now, Rate: rate, Ranks: ranks})
	return true
}

func (l *launch) fail(kind string, rank int, cause string) bool {
	l.played.Failure = &results.Failure{Rank: rank, Phase: "run", Kind: kind, Cause: cause}
	return false
}

// measure draws the measurements of all ranks in the timed part of a case, which begins at one instant.
func (l *launch) measure(c task, p path) []*move.Part {
	o := c.Options
	ranks := make([]*move.Part, l.Ranks)
	for r := range ranks {
		ranks[r] = &move.Part{Rank: r, Verified: o.Verify != "none", Prep: l.prep}
	}
	way := course{
		start: int64(l.now), interval: p.interval / l.speed * 1e9, latency: p.latency / l.speed * 1e9,
		jitter: float64(o.Sim.Jitter), iterations: uint64(p.iterations(o, l.speed)), bytes: p.bytes,
	}
	key := textWord(c.Key)
	for rank, res := range ranks {
		res.Clock = move.Clock{Resolution: 1e-9}
		if !o.Initiates(rank) {
			continue
		}
		s := way.record(l.stream(forRank, key, uint64(rank)))
		s.Case, s.Launch, s.Rank = c.Key, l.Index, rank
		res.Initiator, res.Samples, res.Transport = true, s, "simulated"
		res.Transports = []results.Transport{{Name: fabric.SimName, Use: results.DataUse, Ranks: []int{rank}}}
		if o.Threads > 1 {
			res.Threads = &move.Threads{
				From: s.Start, To: s.End, Took: float64(s.End-s.Start) / 1e9 * float64(o.Threads),
			}
		}
		res.Ceiling = quantity.Round(rateOf(o, rank) * l.speed)
		res.CeilingBest = res.Ceiling
		res.Memcpy = quantity.Round(float64(o.Sim.Bandwidth) * l.speed)
		res.Stages.Transfer = stage(s)
		l.now = max(l.now, time.Duration(s.End))
	}
	return ranks
}

// stage has all of the latency: posting takes no time.
func stage(s *results.Samples) move.Stage {
	h := results.NewLatencies(s.Counts)
	return move.Stage{Stamps: uint64(h.Count()), Mean: h.Mean() / 1e9, P99: float64(h.Quantile(results.P99)) / 1e9}
}

// encode encodes the ranks' measurements in the form of real processes.
func encode(key string, ranks []*move.Part) ([]*workload.Part, error) {
	out := make([]*workload.Part, len(ranks))
	for i, r := range ranks {
		var err error
		if out[i], err = r.Encode(key); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// rateOfAll returns the rate of all initiators in bytes/s, each over its own time.
func rateOfAll(ranks []*move.Part) (rate float64) {
	for _, r := range ranks {
		if s := r.Samples; s != nil && s.End > s.Start {
			rate += float64(s.Bytes) * 1e9 / float64(s.End-s.Start)
		}
	}
	return rate
}
