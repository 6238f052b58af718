package serving

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/serving"
	"github.com/weir-bench/weir/workload/serving/client"
	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/prompt"
	"github.com/weir-bench/weir/workload/serving/schedule"
)

// level is one load; a case without a search has one.
type level struct {
	number      int
	concurrency int     // of a closed load, over all clients; 0: it is open
	rate        float64 // of an open one, requests per second
	requests    int     // over all clients; 0: the duration decides
}

// measure prepares the endpoint, warms up and runs the load, or the levels of its search.
func (k *run) measure() ([]load.Record, error) {
	if err := k.prepare(); err != nil {
		return nil, err
	}
	if k.c.Before > 0 { // else the deadline of Run is this one
		defer k.limit(time.Duration(k.c.Timeout))()
	}
	s := k.spec
	first := level{concurrency: int(s.Concurrency), rate: s.Rate, requests: int(s.Requests)}
	if search := s.Search; search != nil {
		return k.search(search, first)
	}
	if err := k.warmUp(first); err != nil {
		return nil, err
	}
	return k.play(first)
}

// limit ends the case after a time from now on, when the endpoint is ready.
func (k *run) limit(after time.Duration) (stop func()) {
	unlimited := k.ctx
	ctx, cancel := context.WithCancelCause(unlimited)
	timer := time.AfterFunc(after, func() {
		cancel(&engine.Error{Phase: engine.PhaseName(k.control.Phase.Load()), Peer: -1, Code: -int(syscall.ETIMEDOUT),
			Text: fmt.Sprintf("timeout after %v", after)})
	})
	k.ctx = ctx
	return func() {
		timer.Stop()
		if ctx.Err() == nil {
			k.ctx = unlimited // an error of the case is not that of the limit
		}
		cancel(nil)
	}
}

// openSlots limits the requests in flight in a warm-up wave of an open load.
const openSlots = 64

// slots returns the requests that this client may have in flight; 0: no limit.
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

// warmUp sends unmeasured requests.
func (k *run) warmUp(l level) error {
	w := k.spec.Warmup
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

// play runs a load and returns the records of this client; with an error, those of the requests sent.
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
		if times, err = k.spec.Times(l.rate, k.launch.Index); err != nil {
			return nil, err
		}
		l.requests = len(times) * set.Turns
	}
	if _, err := k.share(k.ctx, nil); err != nil { // a common start
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

// player makes the conversations of a client one by one, and takes their records.
type player struct {
	k     *run
	set   *prompt.Set
	level level
	times []int64 // scheduled times of conversations; nil: as soon as a slot is free
	next  int     // index of this client's next conversation

	mu      sync.Mutex
	records []load.Record
	kept    int // bytes of answers to be counted
}

// maxKept limits the answers of a client that the server will count; others keep their estimate.
const maxKept = 64 << 20

func (p *player) load() client.Load {
	s := p.k.spec
	l := client.Load{Next: p.conversation, Slots: p.k.slots(p.level), Grace: s.Grace}
	switch {
	case p.times == nil && p.level.requests == 0:
		l.Until = s.Duration.Nanoseconds()
	case p.times == nil && s.Duration > 0:
		l.Until = s.Duration.Nanoseconds()
	case p.times != nil && s.Duration > 0:
		l.Until = s.Duration.Nanoseconds() // all are scheduled before
	}
	return l
}

// conversation returns the next conversation of this client; nil: there are no more.
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
			q.Text = client.MaxText
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
	if p.kept += len(r.Answer); !counted || p.kept > maxKept {
		p.kept -= len(r.Answer)
		last.Answer = ""
	}
	p.mu.Unlock()
	p.k.control.Done.Add(1)
}

// unsent adds scheduled requests of an open load that were never sent, because the load ended before they got a slot:
// they are errors.
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

// causes returns the reasons of failed requests, the most frequent first; inFlight is the limit of requests in flight,
// 0: none.
func causes(records []load.Record, inFlight int) []results.Cause {
	count := map[string]int{}
	for i := range records {
		r := &records[i]
		switch {
		case r.Outcome == load.Unfinished && r.Start == load.Never && inFlight > 0:
			count[fmt.Sprintf("never sent: max_in_flight %d requests were in flight", inFlight)]++
		case r.Outcome == load.Unfinished && r.Start == load.Never:
			count["never sent: the load ended before the client could send it"]++
		case r.Outcome == load.Unfinished:
			count["the load ended before the request"]++
		case r.Error != "":
			count[r.Error]++
		}
	}
	return serving.MostFrequent(count)
}
