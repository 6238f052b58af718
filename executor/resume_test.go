package executor

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"weir/executor/event"
	"weir/executor/ledger"
	"weir/planner"
	"weir/results"
	"weir/test/phase"
	"weir/workload"
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

// byMeasurement is a judge whose verdicts follow from what was measured.
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

// eventful is a plan in which launches fail, are made again, and are asked for at
// further looks, one case has no luck, others wait for outcomes, and commands run.
func eventful(b *bench) *planner.Plan {
	quick := option("iterations", int64(2))
	a := []*planner.Case{aCase("a[x=1]", gated, quick), aCase("a[x=2]", gated, quick)}
	flaky := []*planner.Case{aCase("flaky", gated, quick, env(faultEnv, "kill run 1"), env(faultLaunchesEnv, "1"))}
	bad := []*planner.Case{aCase("bad", quick, env(faultEnv, "error run 0"))}
	broken := []*planner.Case{aCase("broken", quick)}
	after := []*planner.Case{
		aCase("after", gated, quick, needs("bad"), func(c *planner.Case) {
			c.NeedsOn = map[string]string{"bad": "failed"}
		}),
	}
	g := aGroup("after", after, 1, 2)
	g.Needs = []string{"bad"}
	p := aPlan(slices.Concat(a, flaky, bad, broken, after),
		aGroup("a", a, 2, 3, 4), aGroup("flaky", flaky, 2, 3), aGroup("bad", bad, 2), aGroup("broken", broken), g)
	p.Runs = []*planner.Run{
		{Name: "a", Order: planner.Order{By: "random", Seed: 7}},
		{Name: "flaky", Retry: &planner.Retry{Times: 1, On: []string{results.Crashed}}},
		{Name: "broken", Setup: []planner.Command{shell("absent", "exit 1")}},
	}
	p.Setup, p.Teardown = []planner.Command{b.noting("up")}, []planner.Command{b.noting("down")}
	return p
}

// outcome is what must not depend on when a session was cut off.
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

// cutOff copies a session directory with so many bytes of its journal.
func cutOff(t *testing.T, from, to string, journal []byte) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, ledger.JournalName), journal, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestResumingAnyPrefixGivesTheSame cuts the journal of a session after each
// record and within each.
func TestResumingAnyPrefixGivesTheSame(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	p := eventful(b)
	whole := b.run(p, deterministic)
	dir := filepath.Join(b.dir, "session")
	journal, err := os.ReadFile(filepath.Join(dir, ledger.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	var cuts []int
	for at, line := range slices.Collect(lines(journal)) {
		cuts = append(cuts, line.from)
		if at%2 == 0 {
			cuts = append(cuts, (line.from+line.to)/2)
		}
	}
	if phase.Short() {
		cuts = []int{0, cuts[len(cuts)/2], len(journal)}
	}
	for n, cut := range append(cuts, len(journal)) {
		to := filepath.Join(b.dir, fmt.Sprintf("cut-%d", n))
		cutOff(t, dir, to, journal[:cut])
		doc := b.run(p, deterministic, func(o *Options) {
			o.Dir, o.Resume, o.SessionID = to, true, fmt.Sprintf("second-%d", n)
		})
		if diff := cmp.Diff(outcome(whole), outcome(doc)); diff != "" {
			t.Errorf("cut at byte %d of %d:\n%s", cut, len(journal), diff)
		}
		again, err := ledger.ReadJournal(filepath.Join(to, ledger.JournalName))
		if err != nil {
			t.Fatalf("cut at byte %d: the continued journal cannot be read: %v", cut, err)
		}
		launched := map[string]int{}
		for _, r := range again {
			if r.Launch != nil {
				launched[fmt.Sprint(r.Launch.Group, " ", r.Launch.Index)]++
			}
		}
		for id, n := range launched {
			if n != 1 {
				t.Errorf("cut at byte %d: launch %v was made %d times", cut, id, n)
			}
		}
	}
}

type span struct{ from, to int }

func lines(b []byte) func(func(span) bool) {
	return func(yield func(span) bool) {
		for from := 0; from < len(b); {
			to := from + bytes.IndexByte(b[from:], '\n') + 1
			if !yield(span{from, to}) {
				return
			}
			from = to
		}
	}
}

func resuming(o *Options) { o.Resume, o.SessionID = true, "second" }

func TestResumingAFinishedSessionRunsNothing(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	p := eventful(b)
	first := b.run(p, deterministic)
	noted := b.noted()
	b.events = nil
	doc := b.run(p, deterministic, resuming)
	if b.launches() != "" || b.noted() != noted || b.count(event.CommandDone, "") > 0 {
		t.Errorf("launched %q, ran %q", b.launches(), b.noted())
	}
	if diff := cmp.Diff(outcome(first), outcome(doc)); diff != "" {
		t.Error(diff)
	}
	if s := doc.Session; s.ID != "second" || s.Resumed != "test-session" || !s.Started.Equal(first.Session.Started) {
		t.Errorf("session %+v", s)
	}
	for _, l := range doc.Case("a[x=1]").Launches {
		if !l.Resumed {
			t.Errorf("launch %d was taken over and does not say so", l.Index)
		}
		for _, file := range l.Samples {
			if _, err := results.ReadSamplesFile(filepath.Join(b.dir, "session", file)); err != nil {
				t.Error(err)
			}
		}
	}
}

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
			ledger.ExitUsage, "holds no session to go on with"},
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
		}, ledger.ExitUsage, "does not hold together at case c"},
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

// TestResumingWhatWasCancelled: what had been measured stays, the rest is run.
func TestResumingWhatWasCancelled(t *testing.T) {
	b := newBench(t)
	c := []*planner.Case{aCase("c", option("iterations", int64(2)))}
	p := aPlan(c, aGroup("g", c, 3))
	p.Teardown = []planner.Command{b.noting("down")}
	b.events = nil
	_, stop := b.interrupted(p, "c", 1)
	if !stop {
		t.Fatal("was not interrupted")
	}
	b.events = nil
	doc := b.run(p, resuming)
	if got := b.launches(); got != "g1 g2" {
		t.Errorf("launches %s", got)
	}
	d := doc.Case("c")
	if d.Status != results.OK || !d.Launches[0].Resumed || d.Launches[1].Resumed {
		t.Errorf("c is %s (%s): %s", d.Status, launchesOf(d), d.Reason)
	}
	if got := b.noted(); got != "down down" {
		t.Errorf("ran %s", got)
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
