package executor

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"weir/engine"
	"weir/planner"
	"weir/results"
)

// keep writes a file of the session directory.
func (s *session) keep(name string, content []byte) error {
	path := filepath.Join(s.o.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("keeping samples: %w", err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("keeping samples: %w", err)
	}
	return nil
}

// finish puts the launch into the document and the journal, now that no rank is
// measuring. When the session was cancelled, what is incomplete is not held
// against anybody: it did not run.
func (l *launched) finish(cancelled bool) error {
	s := l.s
	if l.outcome != nil && !cancelled {
		l.failure = l.outcome.Failure
	}
	record := &LaunchRecord{Group: l.g.ID, Index: l.index, Failure: l.failure}
	charged := l.charged()
	for i, c := range l.cases {
		p := l.pending[i]
		var entry *results.Launch
		switch {
		case p.complete():
			entry = l.evaluate(i)
			if l.failure != nil && slices.Contains(charged, i) { // after the last case
				entry.Status, entry.Failure = results.Error, l.failure
			}
		case l.failure != nil && slices.Contains(charged, i):
			entry = l.entry(i)
			entry.Status, entry.Failure = results.Error, l.failure
		default:
			continue // this launch did not get to it
		}
		l.enter(c, entry)
		record.Cases = append(record.Cases, LaunchedCase{Key: c.Key, Launch: entry})
	}
	if err := s.record(Record{Launch: record}); err != nil {
		return err
	}
	if l.failure != nil {
		l.g.failures++
		if l.g.failures >= maxFailures {
			s.giveUp(l.g, fmt.Sprintf("%d launches of its group failed; the last: %s", l.g.failures, l.failure))
		}
	}
	return nil
}

// charged are the cases that a failure counts for: the first that not all ranks
// have run; all, if not even the first began; the last, if all have run.
func (l *launched) charged() []int {
	if l.failure == nil {
		return nil
	}
	first := slices.IndexFunc(l.pending, func(p *pendingCase) bool { return !p.complete() })
	switch {
	case first < 0:
		return []int{len(l.pending) - 1}
	case first == 0 && (l.failure.Phase == "ready" || l.failure.Phase == "connect"):
		all := make([]int, len(l.pending))
		for i := range all {
			all[i] = i
		}
		return all
	}
	return []int{first}
}

// enter adds a launch to a case of the document. A case with a launch that
// failed is an error and is not launched again.
func (l *launched) enter(c *planner.Case, entry *results.Launch) {
	d := l.s.doc.Case(c.Key)
	d.Launches = append(d.Launches, entry)
	index := l.index
	l.s.emit(Event{
		Type: CaseMeasured, Group: l.g.ID, Launch: &index, Case: c.Key, Status: entry.Status,
		Metrics: entry.Metrics, Failure: entry.Failure, Seconds: entry.Duration,
	})
	if entry.Status == results.OK {
		d.Status, d.Reason = results.OK, ""
		return
	}
	d.Status, d.Reason = results.Error, fmt.Sprintf("launch %d: %s", entry.Index, entry.Failure)
	l.g.drop(c)
}

func (g *group) drop(c *planner.Case) {
	g.live = slices.DeleteFunc(g.live, func(other *planner.Case) bool { return other == c })
}

// giveUp ends all cases of a group that still want launches.
func (s *session) giveUp(g *group, reason string) {
	for _, c := range g.due(s.doc) {
		s.decide(c.Key, results.Error, reason)
		g.drop(c)
	}
}

// entry is the part of a launch that every case of it has.
func (l *launched) entry(i int) *results.Launch {
	p := l.pending[i]
	to := p.to
	if to.IsZero() {
		to = time.Now()
	}
	if p.from.IsZero() {
		p.from = to
	}
	e := &results.Launch{
		Index: l.index, Started: p.from.UTC(), Duration: to.Sub(p.from).Seconds(), Status: results.OK,
		Nodes: l.engine.Nodes, Fabric: l.engine.Fabric, Metrics: map[string]float64{}, Samples: []string{},
		Simulated: simulated(l.cases[0]),
	}
	for _, name := range p.files {
		if name != "" {
			e.Samples = append(e.Samples, filepath.ToSlash(name))
		}
	}
	return e
}

// evaluate computes a case's metrics from the samples in their files: from what
// was kept, not from what was once in memory.
func (l *launched) evaluate(i int) *results.Launch {
	e, p := l.entry(i), l.pending[i]
	e.Verified = true
	var transports []string
	fail := func(format string, args ...any) *results.Launch {
		e.Status = results.Error
		e.Failure = &results.Failure{Rank: -1, Phase: "evaluate", Cause: fmt.Sprintf(format, args...)}
		return e
	}
	for rank, r := range p.ranks {
		e.Verified = e.Verified && r.Verified
		if r.Transport != "" && !slices.Contains(transports, r.Transport) {
			transports = append(transports, r.Transport)
		}
		if p.files[rank] == "" {
			continue
		}
		samples, err := results.ReadSamplesFile(filepath.Join(l.s.o.Dir, p.files[rank]))
		if err != nil {
			return fail("samples of rank %d: %v", rank, err)
		}
		r.Samples = samples
	}
	e.Transport = strings.Join(transports, ", ")
	metrics, err := l.s.o.Metrics(l.engine.Cases[i], p.ranks)
	p.ranks = make([]*engine.CaseResult, len(p.ranks)) // the samples are large
	if err != nil {
		return fail("computing metrics: %v", err)
	}
	for name, v := range metrics {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			delete(metrics, name) // JSON has no such numbers
			err = fmt.Errorf("metric %s is %v", name, v)
		}
	}
	e.Metrics = metrics
	if err != nil {
		return fail("computing metrics: %v", err)
	}
	return e
}
