package serving

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"weir/engine"
	"weir/results"
	load "weir/serving"
	"weir/serving/client"
	"weir/serving/prompt"
	"weir/serving/schedule"
	"weir/workload/serving"
)

// level is one load: of a case without a search there is one.
type level struct {
	number      int
	concurrency int     // of a closed load, over all clients; 0: it is open
	rate        float64 // of an open one, requests per second
	requests    int     // over all clients; 0: the duration says
}

// measure makes ready, warms up and runs the load, or the levels of its search.
func (k *run) measure() ([]load.Record, error) {
	if err := k.prepare(); err != nil {
		return nil, err
	}
	s := k.spec
	first := level{concurrency: int(s.Concurrency), rate: s.Rate, requests: int(s.Requests)}
	if search := s.Searching(); search != nil {
		return k.search(search, first)
	}
	if err := k.warmUp(first); err != nil {
		return nil, err
	}
	return k.play(first)
}

// openSlots are how many requests of a wave that warms up for an open load are in flight together.
const openSlots = 64

// slots are the requests that this client may have in flight; 0: as many as are due.
func (k *run) slots(l level) int {
	n := l.concurrency
	if n == 0 {
		n = int(k.spec.MaxInFlight)
	}
	if n == 0 {
		return 0
	}
	return schedule.Slots(n, k.self, k.launch.Ranks)
}

// warmUp sends requests that nothing is measured of.
func (k *run) warmUp(l level) error {
	w := k.spec.WarmingUp()
	width := l.concurrency
	if width == 0 {
		width = openSlots
		if most := int(k.spec.MaxInFlight); most > 0 {
			width = min(width, most)
		}
	}
	n := w.Requests + w.Waves*width
	if n == 0 && w.Time == 0 {
		return nil
	}
	set, err := k.prompts(l.number)
	if err != nil {
		return err
	}
	c, err := client.New(k.with)
	if err != nil {
		return err
	}
	defer c.Close()
	i := k.self
	job := client.Load{Slots: max(1, schedule.Slots(width, k.self, k.launch.Ranks)), Grace: k.with.Total}
	if job.Grace == 0 {
		job.Grace = time.Hour
	}
	job.Next = func() []*load.Request {
		if w.Time == 0 && i >= n {
			return nil
		}
		q := set.Request(load.Warmup, i*set.Turns)
		i += k.launch.Ranks
		return []*load.Request{&q}
	}
	if w.Time > 0 {
		job.Until = c.Now() + w.Time.Nanoseconds()
	}
	c.Run(k.ctx, job, func(*load.Record) {})
	return context.Cause(k.ctx)
}

// play runs a load and gives what became of the requests of this client; with an error, of those
// that it had sent.
func (k *run) play(l level) ([]load.Record, error) {
	set, err := k.prompts(l.number)
	if err != nil {
		return nil, err
	}
	c, err := client.New(k.with)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	k.proxy = c.AboutProxy()
	var times []int64
	if l.concurrency == 0 {
		if times, err = k.spec.Times(l.rate); err != nil {
			return nil, err
		}
		l.requests = len(times) * set.Turns
	}
	if _, err := k.share(k.ctx, nil); err != nil { // all begin together
		return nil, err
	}
	c.Begin()
	p := &player{k: k, set: set, level: l, times: times, next: k.self}
	k.control.Phase.Store(engine.PhaseRun)
	k.control.Done.Store(0)
	k.control.Total.Store(uint64(l.requests / k.launch.Ranks))
	watch := watchClient()
	c.Run(k.ctx, p.load(), p.done)
	k.facts.CPU, k.facts.Lateness = watch.stop()
	if err := context.Cause(k.ctx); err != nil {
		return p.records, err
	}
	p.unsent()
	if k.spec.Tokenizer == "endpoint" {
		countAnswers(k.ctx, c, k.spec.Model, p.records)
	}
	slices.SortFunc(p.records, func(a, b load.Record) int { return cmp.Compare(a.Index, b.Index) })
	return p.records, context.Cause(k.ctx)
}

// player makes the conversations of a client one after the other, and takes what becomes of them.
type player struct {
	k     *run
	set   *prompt.Set
	level level
	times []int64 // when conversations are due; nil: as soon as a slot is free
	next  int     // conversation of this client

	mu      sync.Mutex
	records []load.Record
	kept    int // bytes of answers that are to be counted
}

// mostKept bounds the answers of a client that the server is to count; those beyond keep their estimate.
const mostKept = 64 << 20

func (p *player) load() client.Load {
	s := p.k.spec
	l := client.Load{Next: p.conversation, Slots: p.k.slots(p.level), Grace: s.Grace}
	switch {
	case p.times == nil && p.level.requests == 0:
		l.Until = s.Duration.Nanoseconds()
	case p.times == nil && s.Duration > 0:
		l.Until = s.Duration.Nanoseconds()
	case p.times != nil && s.Duration > 0:
		l.Until = s.Duration.Nanoseconds() // all are due before
	}
	return l
}

// conversation is the next one of this client; nil: there is none.
func (p *player) conversation() (turns []*load.Request) {
	first := p.next * p.set.Turns
	if p.times != nil && p.next >= len(p.times) || p.level.requests > 0 && first >= p.level.requests {
		return nil
	}
	for t := range p.set.Turns {
		if p.level.requests > 0 && first+t >= p.level.requests {
			break
		}
		q := p.set.Request(load.Measured, first+t)
		if p.k.spec.Tokenizer == "endpoint" {
			q.Text = client.MostText
		}
		if t == 0 && p.times != nil {
			q.Due = p.times[p.next]
		}
		turns = append(turns, &q)
	}
	p.next += p.k.launch.Ranks
	return turns
}

func (p *player) done(r *load.Record) {
	p.mu.Lock()
	p.records = append(p.records, *r)
	last := &p.records[len(p.records)-1]
	counted := p.k.spec.Tokenizer == "endpoint" && r.Outcome == load.OK && r.Source == load.ByEvents
	if p.kept += len(r.Answer); !counted || p.kept > mostKept {
		p.kept -= len(r.Answer)
		last.Answer = ""
	}
	p.mu.Unlock()
	p.k.control.Done.Add(1)
}

// unsent adds the requests of an open load that were due and never sent, because the load was
// over before there was a slot for them: they are errors.
func (p *player) unsent() {
	if p.times == nil {
		return
	}
	sent := map[int]bool{}
	for i := range p.records {
		sent[p.records[i].Session] = true
	}
	for i := p.k.self; i < len(p.times); i += p.k.launch.Ranks {
		if !sent[i] {
			p.records = append(p.records, load.Record{
				Index: i * p.set.Turns, Phase: load.Measured, Session: i, Outcome: load.Unfinished, Due: p.times[i],
				Slot: load.Never, Start: load.Never, Connected: load.Never, Sent: load.Never, Headers: load.Never,
				First: load.Never, FirstContent: load.Never, Last: load.Never, Done: load.Never,
				Input: load.Unknown, Output: load.Unknown, Cached: load.Unknown,
			})
		}
	}
}

// causes are why requests failed, the most frequent first; inFlight are those that were in flight
// together at most, 0: as many as were due.
func causes(records []load.Record, inFlight int) []results.Cause {
	count := map[string]int{}
	for i := range records {
		r := &records[i]
		switch {
		case r.Outcome == load.Unfinished && r.Start == load.Never && inFlight > 0:
			count[fmt.Sprintf("never sent: max_in_flight %d were under way", inFlight)]++
		case r.Outcome == load.Unfinished && r.Start == load.Never:
			count["never sent: the load was over before the client came to it"]++
		case r.Outcome == load.Unfinished:
			count["the load was over before it ended"]++
		case r.Error != "":
			count[r.Error]++
		}
	}
	return serving.MostFrequent(count)
}
