// This file evaluates an ended launch and records it in the document.

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

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// storeFile writes a file below the session directory, and makes its directory.
func (s *session) storeFile(name string, content []byte) error {
	path := filepath.Join(s.o.Dir, name)
	err := writeNoFollow(path, content)
	if errors.Is(err, fs.ErrNotExist) { // the first file of its directory
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = writeNoFollow(path, content)
		}
	}
	if err != nil {
		return fmt.Errorf("keeping %s: %w", name, err)
	}
	return nil
}

// writeNoFollow writes a file, but not through a symbolic link.
func writeNoFollow(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// conclude evaluates an ended launch and puts it into the document and the journal. In a cancelled session
// incomplete cases have not failed: they did not run.
func (l *launchRun) conclude(cancelled bool) error {
	l.failure = l.failed()
	if cancelled {
		l.failure = nil
	}
	l.storeUnfinished()
	record := l.recordCases()
	if l.failure == nil && !cancelled {
		for _, m := range l.load.members {
			for _, b := range m.done {
				record.Background = append(record.Background, b.recordCases())
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

// warnOfIgnored warns once of each variable that had no effect.
func (l *launchRun) warnOfIgnored() {
	for _, v := range l.ignored {
		if !l.s.warned[v] {
			l.s.warned[v] = true
			l.emit(event.Event{Type: event.EnvIgnored, Reason: v.String()})
		}
	}
}

// recordCases puts the launch's entries of all cases into the document.
func (l *launchRun) recordCases() *ledger.LaunchRecord {
	record := &ledger.LaunchRecord{Group: l.g.ID, Index: l.index}
	failedCases := l.failedCases()
	discarded := ""
	entries := make([]*results.Launch, len(l.cases))
	for i, c := range l.cases {
		var entry *results.Launch
		switch {
		case l.pending[i].complete():
			entry = l.evaluate(i)
			if l.failure != nil && slices.Contains(failedCases, i) { // after the last case
				entry.Status, entry.Failure = results.Error, l.failure
			}
		case l.failure != nil && slices.Contains(failedCases, i):
			entry = l.entry(i)
			entry.Status, entry.Failure = results.Error, l.failure
			entry.Finished = l.pending[i].received
		default:
			continue // the launch ended before this case
		}
		if l.load != nil && len(l.load.members) > 0 && entry.Status == results.OK {
			if f := l.load.checkCoverage(entry, l.pending[i].from); f != nil {
				entry.Status, entry.Failure = results.Error, f
			}
		}
		entry.Retried = entry.Failure != nil && l.s.ledger.Retries(c, entry.Failure)
		discarded = cmp.Or(discarded, l.discardIfDisturbed(i, entry))
		entries[i] = entry
	}
	l.s.countDiscarded(discarded != "")
	for i, c := range l.cases {
		entry := entries[i]
		if entry == nil {
			continue
		}
		if ledger.Sequence(c) && entry.Status == results.OK { // all cases of a sequence are discarded together
			entry.Discarded = discarded
		}
		l.s.ledger.Enter(c.Key, entry)
		l.s.ledger.NoteEvaluated(c.Key, time.Now())
		l.emit(event.Event{
			Type: event.CaseMeasured, Case: c.Key, Status: entry.Status, Retried: entry.Retried,
			Metrics: entry.Metrics, Failure: entry.Failure, Seconds: entry.Duration, Discarded: entry.Discarded,
		})
		record.Cases = append(record.Cases, ledger.LaunchedCase{Key: c.Key, Launch: entry})
	}
	return record
}

// failedCases are the indices of the cases that the failure counts for: the first incomplete case; all, if the first
// case never began or the cases are a sequence; the last, if all are complete.
func (l *launchRun) failedCases() []int {
	if l.failure == nil {
		return nil
	}
	first := slices.IndexFunc(l.pending, func(p *pendingCase) bool { return !p.complete() })
	sequence := ledger.Sequence(l.cases[0])
	switch {
	case first < 0 && !sequence:
		return []int{len(l.pending) - 1}
	case sequence || first == 0 && (l.failure.Phase == ledger.Setup || l.failure.Phase == "ready" ||
		l.failure.Phase == "connect"):
		all := make([]int, len(l.pending))
		for i := range all {
			all[i] = i
		}
		return all
	}
	return []int{first}
}

// entry is the launch's entry of a case, without metrics.
func (l *launchRun) entry(i int) *results.Launch {
	p := l.pending[i]
	to := cmp.Or(p.to, time.Now())
	p.from = cmp.Or(p.from, to)
	values := map[string]string{} // of other runs
	maps.Copy(values, l.optionValues)
	maps.Copy(values, l.textValues)
	e := &results.Launch{
		Index: l.index, Started: l.s.ledger.At(p.from), Duration: to.Sub(p.from).Seconds(), Status: results.OK,
		Nodes: l.engine.Nodes, Bindings: l.bindings, Moved: l.moved, Fabric: l.engine.Fabric,
		FabricReason: l.fabricReason,
		Ignored:      l.ignored, Variables: l.mergedVariables(), Counters: l.counters, Samples: []string{},
		Processors: l.processors(),
		Values:     values, Simulated: !l.s.backendOf(l.cases[0]).processes(),
	}
	for _, name := range p.files {
		if name != "" {
			e.Samples = append(e.Samples, filepath.ToSlash(name))
		}
	}
	return e
}

// evaluate computes a case's metrics from the stored samples.
func (l *launchRun) evaluate(i int) *results.Launch {
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
	metrics, err := reduce(&workload.Measured{Spec: l.specs[i], Nodes: l.engine.Nodes, Caches: l.s.nodes.Caches(),
		Parts: p.parts, Observed: l.observed, Starting: l.starting.Seconds()}, e)
	if err == nil && l.kind.Services != nil && l.kind.Services.Observe != nil {
		err = l.kind.Services.Observe(l.options[i], l.observed, metrics)
	}
	e.Shared = l.launchMetrics(i, metrics)
	p.parts = make([]*workload.Part, len(p.parts)) // free the samples
	if err != nil {
		return fail("%v", err)
	}
	for name, v := range metrics {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			delete(metrics, name) // JSON cannot represent it
			err = fmt.Errorf("metric %s is %v", name, v)
		}
	}
	e.Transports = l.resolveTransports(e.Transports, l.cases[i])
	e.Metrics = results.ValuesOf(metrics)
	if err != nil {
		return fail("%v", err)
	}
	return e
}

// launchMetrics are the metrics of a case that describe the launch, with all of its cases.
func (l *launchRun) launchMetrics(i int, metrics map[string]float64) (names []string) {
	if len(l.cases) == 1 {
		return nil
	}
	var all []string
	if m, ok := l.kind.Behaviour.(workload.LaunchMeasurer); ok {
		all = m.OfLaunch()
	}
	if l.kind.Services != nil {
		all = append(all, l.kind.Services.OverLaunch(l.options[i])...)
	}
	return slices.DeleteFunc(all, func(name string) bool { _, has := metrics[name]; return !has })
}

// resolveTransports replaces transports which a library does not name, because it uses another library, by those
// that the other library names in the ranks' logs, and adds what else the logs name.
func (l *launchRun) resolveTransports(all []results.Transport, c *planner.Case) []results.Transport {
	if len(l.lowerTransports) == 0 {
		return all
	}
	read := option.Text(c.Options["op"]) == "read"
	var out []results.Transport
	for _, t := range all {
		if !t.Opaque {
			out = append(out, t)
		}
		for _, rank := range t.Ranks {
			found := fabric.LowerTransportsFor(l.lowerTransports[rank], read, requestSize(c), rank)
			if len(found) == 0 && t.Opaque {
				t := t
				t.Ranks = []int{rank}
				found = []results.Transport{t}
			}
			out = append(out, found...)
		}
	}
	return results.MergeTransports(out)
}

// requestSize is the size of each request of a case in bytes; 0: sizes differ, or requests may be merged.
func requestSize(c *planner.Case) uint64 {
	if merge, _ := c.Options["nixl_merge"].(bool); merge {
		return 0
	}
	matrices := []string{"matrix", "generate", "patterns", "metadata_file"}
	if slices.ContainsFunc(matrices, func(name string) bool { return c.Options[name] != nil }) {
		return 0
	}
	size, ok := option.Number(c.Options["block_size"])
	if !ok || size <= 0 {
		return 0
	}
	return uint64(size)
}
