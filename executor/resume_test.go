package executor

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload"
)

// sameEachTime makes a launch's metrics follow from its case and index.
func sameEachTime(m *workload.Measured, l *results.Launch) (map[string]float64, error) {
	for _, p := range m.Parts {
		if p.Samples != nil {
			h := fnv.New32a()
			fmt.Fprint(h, p.Key, l.Index)
			return map[string]float64{"bandwidth": float64(h.Sum32()%1000 + 1)}, nil
		}
	}
	return nil, errors.New("no samples")
}

// byMeasurement is a judge that derives verdicts from the metrics.
func byMeasurement(d *results.Document) {
	for _, c := range d.Cases {
		for _, a := range c.Assertions {
			a.Verdict = verdictOf(c)
		}
	}
	d.Summarize()
}

func verdictOf(c *results.Case) results.Verdict {
	sum, n := 0., 0
	for _, l := range c.Launches {
		if l.Status == results.OK {
			sum += l.Metrics.At("bandwidth")
			n++
		}
	}
	switch {
	case c.Status != results.OK || n == 0:
		return results.SkippedVerdict
	case sum/float64(n) > 500:
		return pass
	}
	return open
}

func undecidedByMeasurement(d *results.Document) []string {
	var keys []string
	for _, c := range d.Cases {
		if len(c.Assertions) > 0 && verdictOf(c) == open {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

func deterministic(o *Options) {
	o.reduce, o.Judge, o.Undecided = sameEachTime, byMeasurement, undecidedByMeasurement
}

// outcome is the part of a document that must not depend on interruptions.
func outcome(d *results.Document) []string {
	all := []string{fmt.Sprintf("exit %d: %s", d.Session.ExitCode, d.Session.Status)}
	for _, c := range d.Cases {
		all = append(all, fmt.Sprintf("%s %s", c.Key, c.Status))
		for _, l := range c.Launches {
			all = append(all, fmt.Sprintf("%s %d %s %v %v", c.Key, l.Index, l.Status, l.Retried, l.Metrics))
		}
		for _, a := range c.Assertions {
			all = append(all, fmt.Sprintf("%s: %s", a.Name, a.Verdict))
		}
	}
	return all
}

func resuming(o *Options) { o.Resume, o.SessionID = true, "second" }

func TestResumingUnderLoad(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	p := underLoad(aCase("fore", steps(60, "10ms"), gated), aCase("back", steps(30, "10ms")), 2)
	first := b.run(p, deterministic)
	b.events = nil
	doc := b.run(p, deterministic, resuming)
	if diff := cmp.Diff(outcome(first), outcome(doc)); diff != "" || b.launches() != "" {
		t.Errorf("launched %q\n%s", b.launches(), diff)
	}
}

func TestResumeIsRefused(t *testing.T) {
	phase.Long(t)
	stale := onePlan(aCase("c"))
	stale.Digest = "sha256:other"
	for name, test := range map[string]struct {
		plan  *planner.Plan
		spoil func(t *testing.T, dir string)
		code  int
		cause string
	}{
		"another plan": {stale, nil, ledger.ExitStale, "the plan is not that of the session"},
		"no session": {nil, func(t *testing.T, dir string) { remove(t, filepath.Join(dir, ledger.JournalName)) },
			ledger.ExitUsage, "has no session to resume"},
		"another environment": {nil, func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, ledger.JournalName), `"fingerprint":"sha256:`, `"fingerprint":"sha256:0`)
			replace(t, filepath.Join(dir, ledger.JournalName), `"model":"`, `"model":"Abacus `)
		}, ledger.ExitStale, "CPU of node "},
		"other quantiles": {nil, func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, ledger.JournalName), `"quantiles":{"definition":"nearest_rank"},`, "")
		}, ledger.ExitStale, "defines quantiles differently"},
		"a damaged journal": {nil, func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, ledger.JournalName), `{"time"`, `{"tim`)
		}, ledger.ExitUsage, "reading journal"},
		"a launch of no group": {nil, func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, ledger.JournalName), `"group":"c"`, `"group":"d"`)
		}, ledger.ExitUsage, "the plan has no launch group d"},
		"a launch that is nothing": {nil, func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, ledger.JournalName), `"launch":{"index"`, `"lunch":{"index"`)
		}, ledger.ExitUsage, "is inconsistent at case c"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			p := onePlan(aCase("c"))
			b.run(p)
			dir := filepath.Join(b.dir, "session")
			if test.spoil != nil {
				test.spoil(t, dir)
			}
			if test.plan != nil {
				p = test.plan
			}
			before, _ := os.ReadFile(filepath.Join(dir, ledger.JournalName)) // it may be gone
			b.events = nil
			o := b.options()
			resuming(&o)
			doc, err := Run(t.Context(), p, o)
			r, ok := errors.AsType[*ledger.Refusal](err)
			if !ok || r.Code != test.code || !strings.Contains(r.Error(), test.cause) ||
				doc.Session.ExitCode != test.code {
				t.Errorf("error %v, session %+v", err, doc.Session)
			}
			if after, _ := os.ReadFile(filepath.Join(dir, ledger.JournalName)); !bytes.Equal(before, after) {
				t.Error("the journal was changed")
			}
			if b.launches() != "" {
				t.Errorf("launched %s", b.launches())
			}
		})
	}
}

func TestDirectoryHasOneSessionAtATime(t *testing.T) {
	b := newBench(t)
	p := onePlan(aCase("c"))
	b.run(p)
	f, err := os.Open(filepath.Join(b.dir, "session", ledger.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	o := b.options()
	resuming(&o)
	if _, err := Run(t.Context(), p, o); err == nil || !strings.Contains(err.Error(), "a session is running in") {
		t.Errorf("error %v", err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, path, old, now string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(old)) {
		t.Fatalf("%s does not hold %s", path, old)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte(old), []byte(now)), 0o644); err != nil {
		t.Fatal(err)
	}
}
