package executor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"weir/executor/event"
	"weir/executor/ledger"
	"weir/results"
	"weir/workload"
)

// keep writes a file of the session directory.
func (s *session) keep(name string, content []byte) error {
	path := filepath.Join(s.o.Dir, name)
	err := writeOwn(path, content)
	if errors.Is(err, fs.ErrNotExist) { // it is the first in its directory, of thousands
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = writeOwn(path, content)
		}
	}
	if err != nil {
		return fmt.Errorf("keeping %s: %w", name, err)
	}
	return nil
}

// writeOwn writes a file that is no link to another.
func writeOwn(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// conclude puts the launch into the document and the journal, now that no rank is
// measuring. When the session was cancelled, what is incomplete is not held
// against anybody: it did not run.
func (l *launched) conclude(cancelled bool) error {
	if !cancelled {
		l.failure = l.failed()
	} else {
		l.failure = nil
	}
	l.keepUnfinished()
	record := l.keepAll()
	if l.failure == nil && !cancelled {
		for _, m := range l.load.members {
			for _, b := range m.done {
				record.Background = append(record.Background, b.keepAll())
			}
		}
	}
	if len(record.Cases) == 0 {
		return nil
	}
	if err := l.s.ledger.Record(ledger.Record{Launch: record}); err != nil {
		return err
	}
	l.warnOfIgnored()
	l.s.ledger.GiveUpAfterFailures(l.g)
	return nil
}

// warnOfIgnored tells once of each variable that had no effect.
func (l *launched) warnOfIgnored() {
	for _, v := range l.ignored {
		if !l.s.warned[v] {
			l.s.warned[v] = true
			l.tell(event.Event{Type: event.EnvIgnored, Reason: v.String()})
		}
	}
}

// keepAll puts what each case has of the launch into the document.
func (l *launched) keepAll() *ledger.LaunchRecord {
	record := &ledger.LaunchRecord{Group: l.g.ID, Index: l.index}
	charged := l.charged()
	void := ""
	entries := make([]*results.Launch, len(l.cases))
	for i, c := range l.cases {
		var entry *results.Launch
		switch {
		case l.pending[i].complete():
			entry = l.evaluate(i)
			if l.failure != nil && slices.Contains(charged, i) { // after the last case
				entry.Status, entry.Failure = results.Error, l.failure
			}
		case l.failure != nil && slices.Contains(charged, i):
			entry = l.entry(i)
			entry.Status, entry.Failure = results.Error, l.failure
			entry.Finished = l.pending[i].arrived
		default:
			continue // this launch did not get to it
		}
		if l.load != nil && len(l.load.members) > 0 && entry.Status == results.OK {
			if f := l.load.missed(entry, l.pending[i].from); f != nil {
				entry.Status, entry.Failure = results.Error, f
			}
		}
		entry.Retried = entry.Failure != nil && l.s.ledger.Retries(c, entry.Failure)
		void = cmp.Or(void, l.disturbed(i, entry))
		entries[i] = entry
	}
	for i, c := range l.cases {
		entry := entries[i]
		if entry == nil {
			continue
		}
		if ledger.Sequence(c) && entry.Status == results.OK { // it was played once, for all of its cases
			entry.Void = void
		}
		l.s.ledger.Enter(c.Key, entry)
		l.s.ledger.Evaluated(c.Key, time.Now())
		l.tell(event.Event{
			Type: event.CaseMeasured, Case: c.Key, Status: entry.Status, Retried: entry.Retried,
			Metrics: entry.Metrics, Failure: entry.Failure, Seconds: entry.Duration, Void: entry.Void,
		})
		record.Cases = append(record.Cases, ledger.LaunchedCase{Key: c.Key, Launch: entry})
	}
	return record
}

// charged are the cases that a failure counts for: the first that not all ranks
// have run; all, if not even the first began or they are a sequence; the last, if all
// have run.
func (l *launched) charged() []int {
	if l.failure == nil {
		return nil
	}
	first := slices.IndexFunc(l.pending, func(p *pendingCase) bool { return !p.complete() })
	whole := ledger.Sequence(l.cases[0]) // of which no case can be launched without the others
	switch {
	case first < 0 && !whole:
		return []int{len(l.pending) - 1}
	case whole || first == 0 && (l.failure.Phase == ledger.Setup || l.failure.Phase == "ready" ||
		l.failure.Phase == "connect"):
		all := make([]int, len(l.pending))
		for i := range all {
			all[i] = i
		}
		return all
	}
	return []int{first}
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
		Nodes: l.engine.Nodes, Seats: l.seats, Moved: l.moved, Fabric: l.engine.Fabric, FabricReason: l.why,
		Ignored: l.ignored, Variables: l.merged(), Counters: l.counters, Samples: []string{},
		Processors: l.processors(),
		Values:     l.valuesUsed(), Simulated: !l.s.backendOf(l.cases[0]).processes(),
	}
	for _, name := range p.files {
		if name != "" {
			e.Samples = append(e.Samples, filepath.ToSlash(name))
		}
	}
	return e
}

// valuesUsed are the values of other runs that the launch used; nil: none.
func (l *launched) valuesUsed() map[string]string {
	if len(l.known) == 0 {
		return l.values
	}
	all := maps.Clone(l.known)
	maps.Copy(all, l.values)
	return all
}

// evaluate computes a case's metrics from the samples in their files: from what
// was kept, not from what was once in memory.
func (l *launched) evaluate(i int) *results.Launch {
	e, p := l.entry(i), l.pending[i]
	fail := func(format string, args ...any) *results.Launch {
		e.Status = results.Error
		e.Failure = &results.Failure{
			Rank: -1, Phase: results.Evaluating, Kind: results.Wrong, Cause: fmt.Sprintf(format, args...),
		}
		return e
	}
	for rank, part := range p.parts {
		if p.files[rank] == "" {
			continue
		}
		samples, err := os.ReadFile(filepath.Join(l.s.o.Dir, p.files[rank]))
		if err != nil {
			return fail("samples of rank %d: %v", rank, err)
		}
		part.Samples = samples
	}
	digest, err := results.DigestSamples(l.s.o.Dir, e.Samples)
	if err != nil {
		return fail("%v", err)
	}
	e.SamplesDigest = digest
	reduce := l.kind.Reduce
	if l.s.o.reduce != nil {
		reduce = l.s.o.reduce
	}
	metrics, err := reduce(&workload.Measured{Spec: l.asked[i], Nodes: l.engine.Nodes, Caches: l.s.hosts.Caches(),
		Parts: p.parts, Observed: l.observed}, e)
	if err == nil && l.kind.Observe != nil {
		err = l.kind.Observe(l.options[i], l.observed, metrics)
	}
	e.Shared = l.shared(i, metrics)
	p.parts = make([]*workload.Part, len(p.parts)) // the samples are large
	if err != nil {
		return fail("%v", err)
	}
	for name, v := range metrics {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			delete(metrics, name) // JSON has no such numbers
			err = fmt.Errorf("metric %s is %v", name, v)
		}
	}
	e.Transports = l.named(e.Transports, l.cases[i])
	e.Metrics = results.ValuesOf(metrics)
	if err != nil {
		return fail("%v", err)
	}
	return e
}

// shared are the metrics of a case that the launch has once for all of its cases.
func (l *launched) shared(i int, metrics map[string]float64) (names []string) {
	if len(l.cases) == 1 {
		return nil
	}
	all := slices.Clone(l.kind.OfLaunch)
	if l.kind.OverLaunch != nil {
		all = append(all, l.kind.OverLaunch(l.options[i])...)
	}
	return slices.DeleteFunc(all, func(name string) bool { _, has := metrics[name]; return !has })
}
